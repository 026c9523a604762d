/** A text as its row keeps it: the text itself, or where in the bucket a long one lies. */
export type StoredText = string | LongText;

export interface LongText {
  /** Key in the bucket. The object never changes: another text gets another key. */
  readonly blob: string;
  /** Length in bytes of UTF-8. */
  readonly bytes: number;
}

/** The length of a stored text in bytes of UTF-8, known without reading it. */
export const bytesOf = (text: StoredText): number =>
  typeof text === 'string' ? Buffer.byteLength(text) : text.bytes;
