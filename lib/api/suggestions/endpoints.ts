import { applySuggestions, type FoundSuggestion } from '../../domain/merge-requests/apply-suggestions.ts';
import { signedIn } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { endpoint } from '../endpoint.ts';
import { suggestionsOf } from '../notes/present.ts';
import * as shapes from '../notes/shapes.ts';

const area = 'suggestions';

const message = () =>
  p.string({
    description:
      'Message of the commit, in which variables such as `%{username}` are replaced; default: as the project says',
  });

const errors = [
  { status: 400, description: 'A suggestion cannot be applied, or another request has applied it' },
  { status: 403, description: 'You may not push to the source branch' },
  { status: 404, description: 'Suggestion not found' },
];

const present = ({ note, index, position }: FoundSuggestion) => suggestionsOf(note, position, true)[index]!;

const one = endpoint({
  method: 'PUT',
  path: '/suggestions/:id/apply',
  area,
  summary: 'Apply a suggestion',
  description: 'Commits it to the source branch of its merge request, and resolves its discussion.',
  access: signedIn(),
  params: () => p.params({ id: p.routeInteger({ description: 'ID of the suggestion' }) }),
  body: () => p.params({ commit_message: message() }),
  returns: { body: shapes.suggestion },
  errors,
  handle: async ({ actor, params, body }, deps) => {
    const [applied] = await applySuggestions(deps, actor, [params.id], body.commit_message);
    return present(applied!);
  },
});

const batch = endpoint({
  method: 'PUT',
  path: '/suggestions/batch_apply',
  area,
  summary: 'Apply several suggestions',
  description: 'Commits all of them, which are of one merge request, with one commit.',
  access: signedIn(),
  body: () =>
    p.params({
      ids: p.list(p.integer(), { required: true, description: 'IDs of suggestions, at most 50' }),
      commit_message: message(),
    }),
  returns: { body: shapes.suggestions },
  errors,
  handle: async ({ actor, body }, deps) =>
    (await applySuggestions(deps, actor, body.ids, body.commit_message)).map(present),
});

export const suggestionEndpoints = [one, batch];
