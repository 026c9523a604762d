import { mergeRequestNoteEndpoints } from '../lib/api/merge-requests/notes.ts';
import { apiFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = apiFunction({ endpoints: mergeRequestNoteEndpoints, deps });
