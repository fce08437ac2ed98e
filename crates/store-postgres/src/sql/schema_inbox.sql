-- What applications submit in a transaction of their own: the row is there when that is committed, and whichever server
-- comes first decides it. In the order of ids, which is that of submitting.
CREATE TABLE inbox (
  id uuid PRIMARY KEY,
  submitter text NOT NULL,
  pipeline text NOT NULL,
  payload text NOT NULL,
  key text,
  priority bigint,
  not_before bigint,
  reason text
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

-- Runs as the owner of the schema, so that whoever may call it needs no right to any table; names are looked up in this
-- schema alone, whatever the caller has set. What is too large is refused here, before it is kept; everything else is
-- decided by a server, after the commit.
--
-- The id is a UUID of version 7 with the microseconds after the milliseconds: it grows from call to call.
CREATE FUNCTION submit(
  pipeline text,
  payload text,
  key text DEFAULT NULL,
  priority bigint DEFAULT NULL,
  not_before timestamptz DEFAULT NULL,
  reason text DEFAULT NULL
) RETURNS uuid LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  micros bigint := floor(extract(epoch FROM clock_timestamp()) * 1000000);
  fraction integer := (micros % 1000) * 4096 / 1000;
  bytes bytea := uuid_send(gen_random_uuid());
  promised uuid;
BEGIN
  IF submit.pipeline IS NULL OR submit.payload IS NULL THEN
    RAISE null_value_not_allowed USING MESSAGE = 'a submission needs a pipeline and a payload';
  END IF;
  IF octet_length(submit.payload) > 1048576 THEN
    RAISE program_limit_exceeded USING MESSAGE = 'the payload is over 1048576 bytes';
  END IF;
  IF octet_length(submit.pipeline) > 512 OR octet_length(submit.key) > 512 THEN
    RAISE program_limit_exceeded USING MESSAGE = 'the pipeline or the key is over 512 bytes';
  END IF;
  IF octet_length(submit.reason) > 4000 THEN
    RAISE program_limit_exceeded USING MESSAGE = 'the reason is over 4000 bytes';
  END IF;
  IF submit.not_before IN ('infinity', '-infinity') THEN
    RAISE invalid_parameter_value USING MESSAGE = 'not_before is no time';
  END IF;
  bytes := overlay(bytes PLACING substring(int8send(micros / 1000) FROM 3) FROM 1);
  bytes := set_byte(bytes, 6, 112 | (fraction >> 8));
  bytes := set_byte(bytes, 7, fraction & 255);
  promised := encode(bytes, 'hex')::uuid;
  INSERT INTO inbox VALUES (
    promised, 'sql:' || session_user, submit.pipeline, submit.payload, submit.key, submit.priority,
    floor(extract(epoch FROM submit.not_before) * 1000), submit.reason
  );
  RETURN promised;
END
$$;

-- The same for whoever has JSON at hand, kept as it is written.
CREATE FUNCTION submit(
  pipeline text,
  payload json,
  key text DEFAULT NULL,
  priority bigint DEFAULT NULL,
  not_before timestamptz DEFAULT NULL,
  reason text DEFAULT NULL
) RETURNS uuid LANGUAGE sql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path FROM CURRENT AS $$
  SELECT submit($1, $2::text, $3, $4, $5, $6)
$$;

CREATE FUNCTION submit(
  pipeline text,
  payload jsonb,
  key text DEFAULT NULL,
  priority bigint DEFAULT NULL,
  not_before timestamptz DEFAULT NULL,
  reason text DEFAULT NULL
) RETURNS uuid LANGUAGE sql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path FROM CURRENT AS $$
  SELECT submit($1, $2::text, $3, $4, $5, $6)
$$;

-- Nobody may call anything here unless they are told they may.
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA SCHEMA_NAME FROM PUBLIC;
