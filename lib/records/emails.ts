/** A secondary email address; the primary one is in the user's record. */
export interface EmailRecord {
  readonly id: number;
  readonly userId: number;
  readonly email: string;
  readonly createdAt: string;
  readonly confirmedAt: string | null;
}
