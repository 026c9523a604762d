/** A message of the maintenance queue, as the outbox wrote it. */
export interface Job {
  readonly id: string;
  readonly type: string;
  readonly body: Readonly<Record<string, unknown>>;
}
