import { snippetEndpoints } from '../lib/api/snippets/endpoints.ts';
import { snippetNoteEndpoints } from '../lib/api/snippets/notes.ts';
import { snippetMoveEndpoints } from '../lib/api/storage-moves/of-snippets.ts';
import { apiFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = apiFunction({
  endpoints: [...snippetEndpoints, ...snippetNoteEndpoints, ...snippetMoveEndpoints],
  deps,
});
