SELECT submission, batch, no, revision FROM tip WHERE submission = ANY($1)
