// Verifies a log, in a folder or behind an address, with golang.org/x/mod/sumdb, which knows nothing of the code that wrote it: the checkpoint's
// signature with note, every tile against the signed root with tlog.TileHashReader, every entry against its tile, and
// consistency from an older checkpoint where one is given.
//
// usage: verify FOLDER|URL VKEY [OLDER-CHECKPOINT-FILE]
package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type folder struct{ root string }

// One of the log's files.
func file(root, name string) ([]byte, error) {
	if !strings.HasPrefix(root, "http://") {
		return os.ReadFile(filepath.Join(root, name))
	}
	response, err := http.Get(root + "/" + name)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != 200 {
		return nil, fmt.Errorf("%s: %s", name, response.Status)
	}
	return io.ReadAll(response.Body)
}

func (f folder) Height() int { return 8 }

// The specification leaves the height out of the path: it is always 8.
func path(t tlog.Tile) string { return strings.Replace(t.Path(), "tile/8/", "tile/", 1) }

func (f folder) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	data := make([][]byte, len(tiles))
	for i, t := range tiles {
		read, err := file(f.root, path(t))
		if err != nil && t.W < 256 {
			whole := t
			whole.W = 256
			read, err = file(f.root, path(whole))
			if err == nil && len(read) > t.W*tlog.HashSize {
				read = read[:t.W*tlog.HashSize]
			}
		}
		if err != nil {
			return nil, err
		}
		data[i] = read
	}
	return data, nil
}

func (f folder) SaveTiles([]tlog.Tile, [][]byte) {}

// A checkpoint's text begins as that of Go's own database does, but for the name on its first line.
func open(text []byte, err error, vkey string) (tlog.Tree, error) {
	var tree tlog.Tree
	if err != nil {
		return tree, err
	}
	verifier, err := note.NewVerifier(vkey)
	if err != nil {
		return tree, err
	}
	opened, err := note.Open(text, note.VerifierList(verifier))
	if err != nil {
		return tree, err
	}
	lines := strings.SplitN(opened.Text, "\n", 4)
	if len(lines) < 4 || lines[0] != verifier.Name() {
		return tree, fmt.Errorf("not a checkpoint of %s", verifier.Name())
	}
	if _, err := fmt.Sscanf(lines[1], "%d", &tree.N); err != nil {
		return tree, err
	}
	tree.Hash, err = tlog.ParseHash(lines[2])
	return tree, err
}

func entries(root string, tree tlog.Tree, reader tlog.HashReader) error {
	for first := int64(0); first < tree.N; first += 256 {
		width := tree.N - first
		if width > 256 {
			width = 256
		}
		tile := tlog.Tile{H: 8, L: 0, N: first / 256, W: int(width)}
		bundle, err := file(root, strings.Replace(path(tile), "tile/0/", "tile/entries/", 1))
		if err != nil {
			return err
		}
		for index := first; index < first+width; index++ {
			if len(bundle) < 2 || len(bundle) < 2+int(binary.BigEndian.Uint16(bundle)) {
				return fmt.Errorf("the bundle ends within entry %d", index)
			}
			length := int(binary.BigEndian.Uint16(bundle))
			entry := bundle[2 : 2+length]
			bundle = bundle[2+length:]
			hashes, err := reader.ReadHashes([]int64{tlog.StoredHashIndex(0, index)})
			if err != nil {
				return err
			}
			if tlog.RecordHash(entry) != hashes[0] {
				return fmt.Errorf("entry %d is not the one that was logged", index)
			}
			if index%97 == 0 || index == tree.N-1 {
				proof, err := tlog.ProveRecord(tree.N, index, reader)
				if err != nil {
					return err
				}
				if err := tlog.CheckRecord(proof, tree.N, tree.Hash, index, tlog.RecordHash(entry)); err != nil {
					return err
				}
			}
		}
		if len(bundle) != 0 {
			return fmt.Errorf("the bundle of entry %d goes on too long", first)
		}
	}
	return nil
}

func verify(args []string) error {
	root, vkey := args[0], args[1]
	text, err := file(root, "checkpoint")
	tree, err := open(text, err, vkey)
	if err != nil {
		return err
	}
	reader := tlog.TileHashReader(tree, folder{root})
	if err := entries(root, tree, reader); err != nil {
		return err
	}
	if len(args) > 2 {
		text, err := os.ReadFile(args[2])
		older, err := open(text, err, vkey)
		if err != nil {
			return err
		}
		proof, err := tlog.ProveTree(tree.N, older.N, reader)
		if err != nil {
			return err
		}
		if err := tlog.CheckTree(proof, tree.N, tree.Hash, older.N, older.Hash); err != nil {
			return err
		}
	}
	fmt.Printf("%d entries verified\n", tree.N)
	return nil
}

func main() {
	if err := verify(os.Args[1:]); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}
