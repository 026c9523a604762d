import { INGEST } from '../../store/outbox/outbox.ts';
import { ingestJobs as git } from '../git/jobs.ts';
import { ingestJobs as imports } from '../imports/jobs.ts';
import { proposePushed } from '../merge-requests/of-pushes.ts';
import { openBeside } from './open-beside.ts';
import { jobRunner } from './run-job.ts';

/** Runs the job of one message of the queue `ingest`. */
export const runIngestJob = jobRunner(INGEST, [...git({ propose: proposePushed, openBeside }), ...imports]);
