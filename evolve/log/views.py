"""Views of a log, for people: Datasette, `sqlite3`.

A view may change with a migration and no campaign with it. A field that the body leaves out has its default value, which a view puts back."""

_RECORDS = """
SELECT
    record AS id,
    number AS event,
    at,
    json_extract(body, '$.record.origin.kind') AS kind,
    json_extract(body, '$.record.origin.step') AS step,
    coalesce(json_extract(body, '$.record.origin.operator'), '') AS operator,
    coalesce(json_extract(body, '$.record.origin.model'), '') AS model,
    coalesce(json_extract(body, '$.record.origin.parents'), '[]') AS parents,
    json_extract(body, '$.record.origin.about') AS about,
    coalesce(json_extract(body, '$.record.origin.call'), -1) AS call,
    program,
    json_extract(body, '$.record.evaluation.outcome') AS outcome,
    json_extract(body, '$.record.evaluation.fitness') AS fitness,
    json_extract(body, '$.record.evaluation.standard_error') AS standard_error,
    coalesce(json_extract(body, '$.record.evaluation.measurements'), 1) AS measurements,
    coalesce(json_extract(body, '$.record.evaluation.certified'), 0) AS certified,
    coalesce(json_extract(body, '$.record.evaluation.isolation'), '') AS isolation,
    coalesce(json_extract(body, '$.record.evaluation.stage'), '') AS stage,
    coalesce(json_extract(body, '$.record.evaluation.seconds'), 0.0) AS seconds,
    coalesce(json_extract(body, '$.record.evaluation.feedback'), '') AS feedback,
    CASE json_extract(body, '$.placement.insertion')
        WHEN 0 THEN 'NOT_ADDED' WHEN 1 THEN 'PENDING' WHEN 2 THEN 'IMPROVED' WHEN 3 THEN 'NEW'
    END AS insertion,
    coalesce(json_extract(body, '$.placement.island'), 0) AS island,
    coalesce(json_extract(body, '$.placement.cell'), -1) AS cell,
    coalesce(json_extract(body, '$.record.thought'), '') AS thought,
    coalesce(json_extract(body, '$.record.refusal'), '') AS refusal,
    json_extract(body, '$.record.resembles') AS resembles
FROM events
WHERE record IS NOT NULL
"""

_PROGRAMS = """
SELECT
    signatures.program AS id,
    (SELECT min(events.record) FROM events WHERE events.program = signatures.program) AS first_record,
    (SELECT sum(size) FROM files WHERE files.program = signatures.number) AS size,
    (SELECT json_group_array(path) FROM files WHERE files.program = signatures.number) AS files
FROM signatures
"""

_ELITES = """
WITH rulings AS (
    SELECT json_extract(body, '$.about') AS program, json_extract(body, '$.what') AS what, max(number)
    FROM events
    WHERE type = 'Ruled' AND json_extract(body, '$.what') IN ('quarantine', 'release')
    GROUP BY 1
),
ranked AS (
    SELECT id, island, cell, program, fitness, isolation, operator, insertion,
        row_number() OVER (PARTITION BY island, cell ORDER BY fitness DESC, id) AS place
    FROM records
    WHERE insertion IN ('IMPROVED', 'NEW') AND cell >= 0
        AND program NOT IN (SELECT program FROM rulings WHERE what = 'quarantine')
)
SELECT island, cell, id AS record, program, fitness, isolation, operator, insertion FROM ranked WHERE place = 1
"""

_LINEAGE = """
SELECT events.record AS record, parents.value AS parent
FROM events, json_each(events.body, '$.record.origin.parents') AS parents
WHERE events.record IS NOT NULL
"""

_CALLS = """
SELECT
    number AS event,
    at,
    json_extract(body, '$.step') AS step,
    json_extract(body, '$.index') AS "index",
    json_extract(body, '$.call.model') AS model,
    coalesce(json_extract(body, '$.call.purpose'), 'propose') AS purpose,
    coalesce(json_extract(body, '$.call.revision'), '') AS revision,
    coalesce(json_extract(body, '$.call.parameters'), '{}') AS parameters,
    coalesce(json_extract(body, '$.call.prompt'), '[]') AS prompt,
    coalesce(json_extract(body, '$.call.request'), '') AS request,
    coalesce(json_extract(body, '$.call.sample'), 0) AS sample,
    coalesce(json_extract(body, '$.call.reply'), '') AS reply,
    coalesce(json_extract(body, '$.call.thinking'), '') AS thinking,
    coalesce(json_extract(body, '$.call.finish'), '') AS finish,
    coalesce(json_extract(body, '$.call.prompt_tokens'), 0) AS prompt_tokens,
    coalesce(json_extract(body, '$.call.completion_tokens'), 0) AS completion_tokens,
    coalesce(json_extract(body, '$.call.cached_tokens'), 0) AS cached_tokens,
    coalesce(json_extract(body, '$.call.gpu_seconds'), 0.0) AS gpu_seconds,
    coalesce(json_extract(body, '$.call.seconds'), 0.0) AS seconds,
    coalesce(json_extract(body, '$.call.cost'), 0.0) AS cost,
    coalesce(json_extract(body, '$.call.exact'), 0) AS exact,
    coalesce(json_extract(body, '$.call.attempts'), 1) AS attempts,
    coalesce(json_extract(body, '$.call.error'), '') AS error
FROM events
WHERE type = 'Replied'
"""

_PREVIEWS = """
SELECT
    number AS event,
    at,
    json_extract(body, '$.step') AS step,
    json_extract(body, '$.index') AS "index",
    json_extract(body, '$.program') AS program,
    coalesce(json_extract(body, '$.stage'), '') AS stage,
    json_extract(body, '$.evaluation.outcome') AS outcome,
    json_extract(body, '$.evaluation.fitness') AS fitness,
    coalesce(json_extract(body, '$.evaluation.seconds'), 0.0) AS seconds,
    coalesce(json_extract(body, '$.evaluation.feedback'), '') AS feedback
FROM events
WHERE type = 'Previewed'
"""

_COSTS = """
SELECT
    model,
    purpose,
    count(*) AS calls,
    sum(error <> '') AS failed,
    sum(prompt_tokens) AS prompt_tokens,
    sum(completion_tokens) AS completion_tokens,
    sum(cached_tokens) AS cached_tokens,
    sum(exact) AS exact,
    sum(gpu_seconds) AS gpu_seconds,
    sum(seconds) AS seconds,
    sum(cost) AS cost
FROM calls
GROUP BY model, purpose
"""

VIEWS = {
    "records": _RECORDS,
    "programs": _PROGRAMS,
    "elites": _ELITES,
    "calls": _CALLS,
    "costs": _COSTS,
    "previews": _PREVIEWS,
    "lineage": _LINEAGE,
}
"""Name and query of each view, in an order in which they can be made."""
