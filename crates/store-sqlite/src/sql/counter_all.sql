-- One row for each place anything has ever been: as many as the pipelines have states, not submissions.
SELECT pipeline, state, status, count FROM counter WHERE count > 0
