/** That a pipeline is made again and again, at times that a cron expression gives. */
export interface PipelineScheduleRecord {
  readonly id: number;
  readonly projectId: number;
  readonly description: string;
  /** A branch or tag, as it was named by the one who asked. */
  readonly ref: string;
  readonly cron: string;
  /** As it was given: a name of the IANA database, or of Rails. */
  readonly cronTimezone: string;
  readonly active: boolean;
  /** With whose rights its pipelines are made. */
  readonly ownerId: number;
  /** ISO 8601, UTC; also of one that is not active. */
  readonly nextRunAt: string;
  readonly lastPipelineId: number | null;
  /** Base URL of links in what its pipelines tell. */
  readonly baseUrl: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly version: number;
}
