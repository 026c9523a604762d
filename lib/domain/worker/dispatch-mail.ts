import { MAIL } from '../../store/outbox/outbox.ts';
import { mailJobs } from '../mail/jobs.ts';
import { jobRunner } from './run-job.ts';

/** Runs the job of one message of the queue `mail`. */
export const runMailJob = jobRunner(MAIL, mailJobs);
