import type { DiffRefs } from '../../records/notes.ts';

/** A line as a client names it: by its numbers, or by its code, which has them at its end. */
export interface LineRequest {
  readonly code?: string | undefined;
  readonly oldLine?: number | undefined;
  readonly newLine?: number | undefined;
}

/** A place in a diff as a client names it. */
export interface PositionRequest extends DiffRefs {
  readonly kind: 'text' | 'file' | 'image';
  readonly oldPath?: string | undefined;
  readonly newPath?: string | undefined;
  readonly oldLine?: number | undefined;
  readonly newLine?: number | undefined;
  readonly range?: { readonly start: LineRequest; readonly end: LineRequest } | undefined;
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  readonly x?: number | undefined;
  readonly y?: number | undefined;
}
