import type { Visibility } from '../../../records/visibility.ts';

/** Settings of snippets. */
export const snippets = {
  default_snippet_visibility: 'private' as Visibility,
  /** Bytes of all files of a snippet */
  snippet_size_limit: 52_428_800,
};
