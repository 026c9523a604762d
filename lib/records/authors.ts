/** The author as they were at the time of writing: shown when the account is deleted. */
export interface AuthorSnapshot {
  readonly id: number;
  readonly username: string;
  readonly name: string;
}

/** Of a user, of whom more is known. */
export const snapshotOf = ({ id, username, name }: AuthorSnapshot): AuthorSnapshot => ({
  id,
  username,
  name,
});
