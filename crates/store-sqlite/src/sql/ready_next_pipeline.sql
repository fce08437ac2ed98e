-- Called with what comes right after each answer, this names the pipelines that have the task waiting, one seek each.
SELECT pipeline FROM ready WHERE task = ?1 AND pipeline >= ?2 ORDER BY pipeline LIMIT 1
