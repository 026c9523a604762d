/** The author as they were at the time of writing: shown when the account is deleted. */
export interface AuthorSnapshot {
  readonly id: number;
  readonly username: string;
  readonly name: string;
}
