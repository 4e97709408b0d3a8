-- A fleet's tables of version 1, with rows, as Tarpon made them on PostgreSQL before commit
-- 32ecedcb, which raised the version to 2. Databases like this exist: nothing here is
-- brought up to date. An empty line ends a statement.

CREATE TABLE setting (
  name TEXT PRIMARY KEY, value TEXT NOT NULL);

CREATE TABLE problem (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, key TEXT NOT NULL UNIQUE, op TEXT NOT NULL, line TEXT NOT NULL,
  flops DOUBLE PRECISION NOT NULL);

CREATE TABLE tag (
  problem_id BIGINT NOT NULL REFERENCES problem(id), name TEXT NOT NULL,
  is_recurrent BIGINT NOT NULL DEFAULT 0, PRIMARY KEY (name, problem_id));

CREATE TABLE session (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, label TEXT NOT NULL, target TEXT NOT NULL,
  context_target TEXT NOT NULL, context_tarpon TEXT NOT NULL,
  context_llvm TEXT NOT NULL, context_caches TEXT NOT NULL,
  threads BIGINT NOT NULL, kernel_version TEXT NOT NULL,
  is_emulated BIGINT NOT NULL DEFAULT 0, device TEXT NOT NULL DEFAULT '',
  settings TEXT NOT NULL DEFAULT '{}',
  created DOUBLE PRECISION NOT NULL, deleted DOUBLE PRECISION,
  UNIQUE (label, target));

CREATE TABLE job (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, session_id BIGINT NOT NULL REFERENCES session(id),
  problem_id BIGINT NOT NULL REFERENCES problem(id),
  phase TEXT NOT NULL DEFAULT 'compile'
    CHECK (phase IN ('compile', 'measure')),
  state TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN
    ('waiting', 'leased', 'done', 'failed', 'aborted')), reason TEXT NOT NULL DEFAULT '',
  round BIGINT NOT NULL DEFAULT 0, priority DOUBLE PRECISION NOT NULL DEFAULT 0,
  gain DOUBLE PRECISION NOT NULL DEFAULT 0,
  available_at DOUBLE PRECISION NOT NULL DEFAULT 0,
  lease BIGINT NOT NULL DEFAULT 0, lease_until DOUBLE PRECISION,
  leased_at DOUBLE PRECISION, worker_id BIGINT, package TEXT,
  counted_from BIGINT NOT NULL DEFAULT 0,
  known_from BIGINT NOT NULL DEFAULT 0,
  finished DOUBLE PRECISION, UNIQUE (session_id, problem_id));

CREATE INDEX job_waiting ON job (session_id, phase, priority DESC,
  gain DESC, id) WHERE state = 'waiting';

CREATE INDEX job_open ON job (session_id)
  WHERE state IN ('waiting', 'leased');

CREATE INDEX job_leased ON job (lease_until) WHERE state = 'leased';

CREATE INDEX job_worker ON job (worker_id) WHERE state = 'leased';

CREATE TABLE machine (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name TEXT NOT NULL UNIQUE, cpu TEXT NOT NULL,
  cores BIGINT NOT NULL, state TEXT NOT NULL DEFAULT 'ready'
    CHECK (state IN ('ready', 'draining')),
  seen DOUBLE PRECISION NOT NULL);

CREATE TABLE worker (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, machine_id BIGINT NOT NULL REFERENCES machine(id),
  role TEXT NOT NULL CHECK (role IN ('builder', 'evaluator')), label TEXT NOT NULL, device TEXT NOT NULL,
  process BIGINT NOT NULL, slurm_job TEXT NOT NULL DEFAULT '',
  started DOUBLE PRECISION NOT NULL, seen DOUBLE PRECISION NOT NULL,
  ended DOUBLE PRECISION, reason TEXT NOT NULL DEFAULT '');

CREATE INDEX worker_live ON worker (label) WHERE ended IS NULL;

CREATE TABLE attempt (
  job_id BIGINT NOT NULL REFERENCES job(id), lease BIGINT NOT NULL,
  phase TEXT NOT NULL CHECK (phase IN ('compile', 'measure')),
  round BIGINT NOT NULL, worker_id BIGINT, started DOUBLE PRECISION NOT NULL, ended DOUBLE PRECISION NOT NULL,
  cause TEXT NOT NULL CHECK (cause IN ('ok', 'compile', 'wrong', 'crash', 'hang', 'memory', 'disk', 'package', 'device', 'lost', 'database', 'returned', 'aborted')),
  reason TEXT NOT NULL DEFAULT '', log TEXT NOT NULL DEFAULT '', PRIMARY KEY (job_id, lease));

CREATE TABLE package (
  digest TEXT NOT NULL, job_id BIGINT NOT NULL, bytes BIGINT NOT NULL,
  parts BIGINT NOT NULL, recorded_by TEXT NOT NULL DEFAULT session_user,
  created DOUBLE PRECISION NOT NULL, PRIMARY KEY (job_id, digest));

CREATE TABLE package_part (
  digest TEXT NOT NULL, job_id BIGINT NOT NULL, part BIGINT NOT NULL,
  base64 TEXT NOT NULL, PRIMARY KEY (job_id, digest, part));

CREATE TABLE measurement (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, session_id BIGINT NOT NULL REFERENCES session(id),
  problem_id BIGINT NOT NULL REFERENCES problem(id),
  job_id BIGINT, lease BIGINT, number BIGINT NOT NULL,
  solver TEXT NOT NULL, config TEXT NOT NULL,
  stage TEXT NOT NULL CHECK (stage IN ('race', 'final')),
  status TEXT NOT NULL CHECK (status IN
    ('ok', 'wrong', 'crashed', 'timed-out', 'failed')), samples TEXT NOT NULL,
  median DOUBLE PRECISION NOT NULL, mad DOUBLE PRECISION NOT NULL,
  max_error DOUBLE PRECISION, relative_l2 DOUBLE PRECISION,
  workspace BIGINT NOT NULL, rounds BIGINT NOT NULL,
  detail TEXT NOT NULL DEFAULT '', is_dropped BIGINT NOT NULL DEFAULT 0,
  is_modelled BIGINT NOT NULL DEFAULT 0,
  time DOUBLE PRECISION NOT NULL DEFAULT CAST(EXTRACT(EPOCH FROM clock_timestamp()) AS DOUBLE PRECISION),
  UNIQUE (job_id, lease, number));

CREATE INDEX attempt_failed ON attempt (cause, ended)
  WHERE cause <> 'ok';

CREATE INDEX worker_machine ON worker (machine_id);

CREATE INDEX measurement_problem ON measurement (session_id, problem_id);

CREATE TABLE release (
  name TEXT PRIMARY KEY, base TEXT NOT NULL DEFAULT '', label TEXT NOT NULL,
  remark TEXT NOT NULL DEFAULT '', created DOUBLE PRECISION NOT NULL);

CREATE TABLE release_record (
  release TEXT NOT NULL REFERENCES release(name),
  session_id BIGINT NOT NULL REFERENCES session(id),
  target TEXT NOT NULL, problem_id BIGINT NOT NULL REFERENCES problem(id),
  measurement_id BIGINT NOT NULL REFERENCES measurement(id),
  PRIMARY KEY (release, target, problem_id));

INSERT INTO setting (name, value) VALUES ('schema', '1');

INSERT INTO setting (name, value) VALUES ('packages', '/shared/packages');

GRANT USAGE ON SCHEMA public TO tarpon_reader, tarpon_builder, tarpon_evaluator, tarpon_administrator;

GRANT SELECT ON setting, problem, tag, session, job, machine, worker, attempt, package, package_part, measurement, release, release_record TO tarpon_reader, tarpon_builder, tarpon_evaluator, tarpon_administrator;

GRANT INSERT, UPDATE, DELETE ON setting, problem, tag, session, job, machine, worker, attempt, release, release_record TO tarpon_administrator;

GRANT DELETE ON package, package_part TO tarpon_administrator;

GRANT INSERT ON attempt TO tarpon_builder, tarpon_evaluator;

GRANT INSERT (name, cpu, cores, seen) ON machine TO tarpon_builder, tarpon_evaluator;

GRANT INSERT (machine_id, role, label, device, process, slurm_job, started, seen) ON worker TO tarpon_builder, tarpon_evaluator;

GRANT UPDATE (cpu, cores, seen) ON machine TO tarpon_builder, tarpon_evaluator;

GRANT UPDATE (seen, ended, reason) ON worker TO tarpon_builder, tarpon_evaluator;

GRANT UPDATE (phase, state, reason, round, gain, available_at, lease, lease_until, leased_at, worker_id, finished) ON job TO tarpon_builder, tarpon_evaluator;

GRANT UPDATE (package) ON job TO tarpon_builder;

GRANT INSERT (digest, job_id, bytes, parts, created) ON package TO tarpon_builder;

GRANT INSERT, DELETE ON package_part TO tarpon_builder;

GRANT INSERT (session_id, problem_id, job_id, lease, number, solver, config, stage, status, samples, median, mad, max_error, relative_l2, workspace, rounds, detail, is_dropped, is_modelled) ON measurement TO tarpon_evaluator;

GRANT UPDATE (device) ON session TO tarpon_evaluator;

DO $do$ BEGIN EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database()); END $do$;

REVOKE CREATE ON SCHEMA public FROM PUBLIC;

CREATE OR REPLACE FUNCTION public.guard_job() RETURNS trigger
    LANGUAGE plpgsql AS $body$
    BEGIN
  IF pg_has_role(session_user, 'tarpon_administrator', 'MEMBER') THEN
    RETURN NEW;
  END IF;
  IF OLD.state = 'leased' AND OLD.lease_until < CAST(EXTRACT(EPOCH FROM clock_timestamp()) AS DOUBLE PRECISION) AND
      NEW.state IN ('waiting', 'failed') AND NEW.lease = OLD.lease THEN
    RETURN NEW;
  END IF;
  IF OLD.state IN ('waiting', 'leased') AND NEW.lease >= OLD.lease AND
      pg_has_role(session_user, CASE OLD.phase WHEN 'compile' THEN
        'tarpon_builder' ELSE 'tarpon_evaluator' END, 'MEMBER') AND
      (NEW.state IN ('waiting', 'leased', 'failed') OR
       (NEW.state = 'done' AND OLD.phase = 'compile')) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'permission denied, % may not make job % of phase % %',
    session_user, OLD.id, OLD.phase, NEW.state;
    END $body$;

DROP TRIGGER IF EXISTS guard_job ON job;

CREATE TRIGGER guard_job BEFORE UPDATE ON job FOR EACH ROW EXECUTE FUNCTION guard_job();

INSERT INTO problem (key, op, line, flops) VALUES ('relu(4xf32)->4xf32', 'relu', '', 4);

INSERT INTO problem (key, op, line, flops) VALUES ('relu(8xf32)->8xf32', 'relu', './bin/MIOpenDriver activ -n 8', 8);

INSERT INTO tag (problem_id, name, is_recurrent) VALUES (1, 'nightly', 1);

INSERT INTO session (label, target, context_target, context_tarpon, context_llvm, context_caches, threads, kernel_version, device, settings, created) VALUES ('L', 'host', 'znver5', '0.1.0', '22.1.8', 'l1=49152', 2, 'abc', 'a CPU', '{"candidates":4}', 1700000000.5);

INSERT INTO job (session_id, problem_id, state, reason, round, lease, finished, gain) VALUES (1, 1, 'done', '', 2, 3, 1700000100.25, 0.5);

INSERT INTO job (session_id, problem_id, state, phase, lease, lease_until, leased_at, worker_id, package) VALUES (1, 2, 'leased', 'measure', 2, 1700000050, 1700000000, 1, 'd1');

INSERT INTO machine (name, cpu, cores, seen) VALUES ('node1', 'a CPU', 2, 1700000000);

INSERT INTO worker (machine_id, role, label, device, process, slurm_job, started, seen) VALUES (1, 'evaluator', 'L', '', 77, '12_1', 1700000000, 1700000001);

INSERT INTO attempt (job_id, lease, phase, round, worker_id, started, ended, cause, reason, log) VALUES (1, 1, 'compile', 0, 1, 1700000000, 1700000001, 'ok', '', 'compiled');

INSERT INTO attempt (job_id, lease, phase, round, worker_id, started, ended, cause, reason) VALUES (2, 1, 'compile', 0, 1, 1700000000, 1700000001, 'crash', 'SIGSEGV');

INSERT INTO package (digest, job_id, bytes, parts, created) VALUES ('d1', 2, 3, 1, 1700000000);

INSERT INTO package_part (digest, job_id, part, base64) VALUES ('d1', 2, 0, 'YWJj');

INSERT INTO measurement (session_id, problem_id, job_id, lease, number, solver, config, stage, status, samples, median, mad, max_error, workspace, rounds, detail, time) VALUES (1, 1, 1, 2, 0, 'relu-v1', 'n=4', 'race', 'ok', '1,2,3', 0.002, 0.0001, 1e-7, 64, 1, '', 1700000002);

INSERT INTO measurement (session_id, problem_id, job_id, lease, number, solver, config, stage, status, samples, median, mad, workspace, rounds, detail, time) VALUES (1, 1, 1, 2, 1, 'relu-v2', '', 'race', 'crashed', '', 0, 0, 0, 0, 'candidate crashed with SIGSEGV', 1700000003);

INSERT INTO release (name, label, created) VALUES ('v1', 'L', 1700000200);

INSERT INTO release_record (release, session_id, target, problem_id, measurement_id) VALUES ('v1', 1, 'host', 1, 1);
