/** A token that starts pipelines of a project, with the rights of its owner. */
export interface TriggerRecord {
  readonly id: number;
  readonly projectId: number;
  readonly description: string;
  readonly ownerId: number;
  /** Its text, which is stored sealed. */
  readonly token: string;
  readonly lastUsedAt: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly version: number;
}
