/** An address beside the one in the user's record. */
export interface EmailRecord {
  readonly id: number;
  readonly userId: number;
  readonly email: string;
  readonly createdAt: string;
  readonly confirmedAt: string | null;
}
