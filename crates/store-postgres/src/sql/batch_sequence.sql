SELECT sequence_batches($1)
