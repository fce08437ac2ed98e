-- As many rows as the pipelines have states, times the writer slots: not as many as there are submissions.
SELECT pipeline, state, status, sum(count)::bigint FROM counter
GROUP BY pipeline, state, status HAVING sum(count) <> 0 ORDER BY pipeline, state, status
