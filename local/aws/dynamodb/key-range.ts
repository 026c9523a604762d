/** A range of storage keys, in byte order; keys are ASCII. */
export interface KeyRange {
  gt?: string;
  gte?: string;
  lt?: string;
  lte?: string;
  reverse?: boolean;
}

/** A storage key, and the text stored under it. */
export type Row = [key: string, value: string];
