import { expect, it } from 'vitest';
import type { Oid } from '../../../lib/git/oid.ts';
import { EMPTY_TREE } from '../../../lib/git/oid.ts';
import { encodeCommit, parseCommit } from '../../../lib/git/parse.ts';
import { MAX_MESSAGE, TextBudget } from '../../../lib/git/text-budget.ts';

const by = { name: 'A', email: 'a@example.com', seconds: 0, timezone: '+0000' };
const commit = (message: string, parents: readonly Oid[] = []) =>
  parseCommit(encodeCommit({ tree: EMPTY_TREE, parents, author: by, committer: by, message }));

it('an ordinary commit stays as it is', () => {
  const ordinary = commit('title\n\nbody\n');
  expect(new TextBudget().commit(ordinary)).toBe(ordinary);
});

it('a message is cut to the limit, and shorter once the page has enough text', () => {
  const texts = new TextBudget();
  const lengths = [1, 2, 3, 4].map(() => texts.commit(commit('x'.repeat(2 * MAX_MESSAGE))).message.length);
  expect(lengths).toEqual([MAX_MESSAGE, MAX_MESSAGE, 1024, 1024]);
});

it('a short message is shown whole however much text came before it', () => {
  const texts = new TextBudget();
  for (let i = 0; i < 3; i++) texts.commit(commit('x'.repeat(MAX_MESSAGE)));
  expect(texts.commit(commit('short')).message).toBe('short');
});

it('a cut never leaves half a character', () => {
  const { message } = new TextBudget().commit(commit(`x${'😀'.repeat(MAX_MESSAGE)}`));
  expect(message.isWellFormed()).toBe(true);
});

it('at most 500 parents are shown', () => {
  const parents = Array.from({ length: 600 }, () => EMPTY_TREE);
  expect(new TextBudget().commit(commit('m', parents)).parents).toHaveLength(500);
});

it('names and addresses are cut to 1,024 bytes, never inside a character', () => {
  const author = { ...by, name: `x${'é'.repeat(2000)}`, email: 'm'.repeat(2000) };
  const parsed = parseCommit(
    encodeCommit({ tree: EMPTY_TREE, parents: [], author, committer: by, message: 'm' }),
  ).author;
  expect(parsed.name).toBe(`x${'é'.repeat(511)}`);
  expect(parsed.email).toHaveLength(1024);
});
