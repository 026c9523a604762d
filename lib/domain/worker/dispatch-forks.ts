import { FORKS } from '../../store/outbox/outbox.ts';
import { forkJobs } from '../forks/jobs.ts';
import { jobRunner } from './run-job.ts';

/** Runs the job of one message of the queue `forks`. */
export const runForkJob = jobRunner(FORKS, forkJobs);
