/** A text as its row keeps it: the text itself, or where in the bucket a long one lies. */
export type StoredText = string | LongText;

export interface LongText {
  /** Key in the bucket. The object never changes: another text gets another key. */
  readonly blob: string;
  /** Length in bytes of UTF-8. */
  readonly bytes: number;
  /** The first {@link BEGINNING} characters, which searches look at. */
  readonly beginning?: string;
}

export const BEGINNING = 2000;

/** The length of a stored text in bytes of UTF-8, known without reading it. */
export const bytesOf = (text: StoredText): number =>
  typeof text === 'string' ? Buffer.byteLength(text) : text.bytes;

/** As much of a stored text as is known without reading it, {@link BEGINNING} characters at least. */
export const beginningOfText = (text: StoredText | null): string =>
  typeof text === 'string' ? text : (text?.beginning ?? '');
