// Checks the evidence of a submission in the browser: signature, proofs, chain and documents. Whether every move was
// legal by its pipeline is checked by `milepost verify`, which knows the rules.

const text = new TextEncoder();
const bytesOf = (base64) => Uint8Array.from(atob(base64.replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0));
const joined = (...parts) => {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) { all.set(part, at); at += part.length; }
  return all;
};
const sha256 = async (...parts) => new Uint8Array(await crypto.subtle.digest('SHA-256', joined(...parts)));
const isSame = (a, b) => a.length === b.length && a.every((byte, index) => byte === b[index]);
const must = (holds, what) => { if (!holds) throw new Error(what); };

/** A key as the log writes it: its name, the number it goes by, and the key itself. */
const readKey = async (line) => {
  const [name, , ...rest] = line.trim().split('+');
  const key = bytesOf(rest.join('+'));
  must(name && key.length === 33 && key[0] === 1, 'this is no key of a log: it looks like NAME+HASH+KEY');
  const number = (await sha256(text.encode(`${name}\n`), key)).slice(0, 4);
  const imported = await crypto.subtle.importKey('raw', key.slice(1), { name: 'Ed25519' }, false, ['verify']);
  return { name, number, imported };
};

/** A signed checkpoint: what it says, if the key has signed it. */
const readCheckpoint = async (note, key) => {
  const end = note.indexOf('\n\n');
  const [said, signatures] = [note.slice(0, end + 1), note.slice(end + 2)];
  let signed = false;
  for (const line of signatures.split('\n').filter(Boolean)) {
    const [, name, encoded] = line.split(' ');
    const bytes = bytesOf(encoded ?? '');
    if (name === key.name && isSame(bytes.slice(0, 4), key.number)) {
      signed ||= await crypto.subtle.verify('Ed25519', key.imported, bytes.slice(4), text.encode(said));
    }
  }
  must(signed, 'the checkpoint is not signed by this key');
  const [origin, size, root] = said.split('\n');
  return { origin, size: Number(size), root: bytesOf(root) };
};

/** The root that a leaf's path leads to. */
const rootOf = async (hash, index, size, path) => {
  let [at, last, root] = [index, size - 1, hash];
  for (const beside of path) {
    must(last > 0, 'a proof is too long');
    if (at % 2 === 1 || at === last) {
      root = await sha256([1], beside, root);
      while (at % 2 === 0 && at > 0) { at = Math.floor(at / 2); last = Math.floor(last / 2); }
    } else {
      root = await sha256([1], root, beside);
    }
    at = Math.floor(at / 2);
    last = Math.floor(last / 2);
  }
  must(last === 0, 'a proof is too short');
  return root;
};

const leafHash = (leaf) => sha256([0], text.encode(leaf));

const isLogged = async (entry, checkpoint) => {
  const lines = entry.proof.split('\n');
  must(lines[0] === 'c2sp.org/tlog-proof@v1', 'a proof is of a kind that this page does not know');
  const first = lines.findIndex((line) => line.startsWith('index '));
  const index = Number(lines[first].slice(6));
  must(Number.isSafeInteger(index) && index >= 0 && index < checkpoint.size, 'a proof is not of this checkpoint');
  const path = lines.slice(first + 1, lines.indexOf('', first)).map(bytesOf);
  must(isSame(await rootOf(await leafHash(entry.leaf), index, checkpoint.size, path), checkpoint.root), 'a leaf is not in the log');
};

const STEPS = [
  ['the checkpoint is signed by this key', async (state) => {
    state.checkpoint = await readCheckpoint(state.evidence.checkpoint, state.key);
    return `${state.checkpoint.origin}, ${state.checkpoint.size} leaves`;
  }],
  ['every event and every definition is in the log', async ({ evidence, checkpoint }) => {
    for (const entry of [...evidence.events, ...evidence.definitions]) await isLogged(entry, checkpoint);
    return `${evidence.events.length} events, ${evidence.definitions.length} definitions`;
  }],
  ['the events follow each other without a gap', async ({ evidence, submission }) => {
    let [before, revision, to] = [null, 0, ''];
    for (const { leaf } of evidence.events) {
      const said = JSON.parse(leaf);
      must(said.submission === submission && evidence.submission === submission, 'an event is of another submission');
      must(said.revision === revision + 1, `event ${revision + 1} is missing`);
      must(before === null ? said.previous === undefined : isSame(bytesOf(said.previous ?? ''), before), `event ${said.revision} follows another one`);
      [before, revision, to] = [await leafHash(leaf), said.revision, said.to];
    }
    must(to === evidence.state && revision === evidence.revision, 'it is said to be where its events do not lead');
    return `they lead to ${to}`;
  }],
  ['the definitions are those that the events name', async ({ evidence }) => {
    const known = [];
    for (const { leaf, definition } of evidence.definitions) {
      const digest = await sha256(text.encode(definition));
      must(isSame(bytesOf(JSON.parse(leaf).definition), digest), 'a definition is not the one that was logged');
      known.push(digest);
    }
    for (const { leaf } of evidence.events) {
      const named = bytesOf(JSON.parse(leaf).definition);
      must(known.some((digest) => isSame(digest, named)), 'an event names a definition that is missing');
    }
    return '';
  }],
  ['the documents are those that were logged', async ({ evidence }) => {
    let shown = 0;
    for (const { leaf, documents } of evidence.events) {
      for (const [name, document] of Object.entries(documents ?? {})) {
        const digest = await sha256(bytesOf(document.salt), text.encode(document.text));
        must(isSame(bytesOf(JSON.parse(leaf)[name] ?? ''), digest), `the ${name} is not the one that was logged`);
        shown += 1;
      }
    }
    return `${shown} shown`;
  }],
];

/** Checks evidence, and says of each step what came of it. */
export const check = async (address, keyLine, say) => {
  must(globalThis.crypto?.subtle, 'this browser checks nothing on a page that came without encryption; use `milepost verify`');
  must(keyLine.trim(), 'paste the key of the log first');
  const state = { key: await readKey(keyLine), submission: address.split('/')[3] };
  const answer = await fetch(address);
  must(answer.ok, `the evidence is not there yet (${answer.status})`);
  state.evidence = JSON.parse(await answer.text());
  for (const [claim, step] of STEPS) {
    try {
      say(true, claim, await step(state));
    } catch (error) {
      say(false, claim, error.message);
      return false;
    }
  }
  return true;
};
