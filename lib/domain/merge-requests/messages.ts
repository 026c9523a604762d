import type { Identity } from '../../git/parse.ts';
import type { CommitRecord } from '../../git/repository.ts';
import { cut, filled, MAX_MESSAGE_BYTES, variablesOf } from './templates.ts';

/** Commits whose messages and authors a template may name: the newest. */
export const MAX_NAMED_COMMITS = 100;
/** Bytes of a commit's message that `%{all_commits}` tells whole; of longer ones it tells the title. */
const MAX_COMMIT_BYTES = 100 * 1024;

export const DEFAULT_MERGE_TEMPLATE = [
  "Merge branch '%{source_branch}' into '%{target_branch}'",
  '%{title}',
  '%{issues}',
  'See merge request %{reference}',
].join('\n\n');

export const DEFAULT_SQUASH_TEMPLATE = '%{title}';

type Person = Pick<Identity, 'name' | 'email'>;

/** What the message of a merge can tell. */
export interface MessageFacts {
  readonly sourceBranch: string;
  readonly targetBranch: string;
  readonly title: string;
  readonly description: string;
  readonly iid: number;
  /** `group/project!1` */
  readonly reference: string;
  readonly url: string;
  readonly sourceProjectId: number;
  readonly author: Person;
  readonly merger: Person;
  /** References to the issues that merging closes, in order: `#1`, `group/project#2`. */
  readonly issues: readonly string[];
  readonly approvers: readonly Person[];
  readonly reviewers: readonly Person[];
  /** Without merges, newest first, at most {@link MAX_NAMED_COMMITS}. */
  readonly commits: readonly Pick<CommitRecord, 'message' | 'author'>[];
}

type Values = { readonly [Name in (typeof VARIABLES)[number]]: (facts: MessageFacts) => string };

const VARIABLES = [
  'source_branch',
  'target_branch',
  'title',
  'issues',
  'description',
  'reference',
  'local_reference',
  'first_commit',
  'first_multiline_commit',
  'first_multiline_commit_description',
  'url',
  'reviewed_by',
  'approved_by',
  'merged_by',
  'merge_request_author',
  'co_authored_by',
  'all_commits',
  'source_project_id',
] as const;

/** Facts that take a read of their own, and the variables that tell them. */
const READS = {
  issues: ['issues'],
  description: ['description'],
  approvers: ['approved_by'],
  reviewers: ['reviewed_by'],
  commits: [
    'first_commit',
    'first_multiline_commit',
    'first_multiline_commit_description',
    'co_authored_by',
    'all_commits',
  ],
} as const satisfies Partial<Record<keyof MessageFacts, readonly (keyof Values)[]>>;

/** Whether a template tells a fact that has to be read for it. */
export function tells(template: string, fact: keyof typeof READS): boolean {
  const named = variablesOf(template);
  return READS[fact].some((name) => named.has(name));
}

/** The message that a template and a merge request give. At most a megabyte; never empty where the title is not. */
export function messageOf(template: string, facts: MessageFacts): string {
  const known = new Map<string, string>();
  const text = filled(template, (name) => {
    if (!isVariable(name)) return undefined;
    const value = known.get(name) ?? cut(VALUES[name](facts), MAX_MESSAGE_BYTES);
    known.set(name, value);
    return value;
  });
  return text.trim() === '' ? facts.title : text;
}

const isVariable = (name: string): name is keyof Values => Object.hasOwn(VALUES, name);

const VALUES: Values = {
  source_branch: ({ sourceBranch }) => sourceBranch,
  target_branch: ({ targetBranch }) => targetBranch,
  title: ({ title }) => title,
  issues: ({ issues }) => (issues.length === 0 ? '' : `Closes ${listed(issues)}`),
  description: ({ description }) => description.replaceAll('\r', ''),
  reference: ({ reference }) => reference,
  local_reference: ({ iid }) => `!${iid}`,
  first_commit: ({ commits }) => commits.at(-1)?.message.trim() ?? '',
  first_multiline_commit: (facts) => firstOfSeveralLines(facts)?.trim() ?? facts.title,
  first_multiline_commit_description: (facts) => {
    const [, ...rest] = firstOfSeveralLines(facts)?.trim().split('\n') ?? [];
    return rest.join('\n').trim();
  },
  url: ({ url }) => url,
  reviewed_by: ({ reviewers }) => trailers('Reviewed-by', reviewers),
  approved_by: ({ approvers }) => trailers('Approved-by', approvers),
  merged_by: ({ merger }) => written(merger),
  merge_request_author: ({ author }) => written(author),
  co_authored_by: ({ commits, author }) => {
    const others = commits.map((commit) => commit.author).filter(({ email }) => email !== author.email);
    return trailers('Co-authored-by', others);
  },
  all_commits: ({ commits }) =>
    // The oldest first.
    cutList(
      commits.toReversed().map(({ message }) => {
        const text = message.trim();
        return `* ${Buffer.byteLength(text) > MAX_COMMIT_BYTES ? text.split('\n', 1)[0]! : text}`;
      }),
    ),
  source_project_id: ({ sourceProjectId }) => String(sourceProjectId),
};

const firstOfSeveralLines = ({ commits }: MessageFacts): string | undefined =>
  commits.findLast(({ message }) => message.trim().includes('\n'))?.message;

const written = ({ name, email }: Person): string => `${name} <${email}>`;

/** A line for each person; one with the same address is the same person. */
function trailers(key: string, people: readonly Person[]): string {
  const distinct = new Map(people.map((person) => [person.email.toLowerCase(), person]));
  return [...distinct.values()].map((person) => `${key}: ${written(person)}`).join('\n');
}

/** `#1`, `#1 and #2`, `#1, #2, and #3` */
function listed(texts: readonly string[]): string {
  if (texts.length < 3) return texts.join(' and ');
  return `${texts.slice(0, -1).join(', ')}, and ${texts.at(-1)}`;
}

/** Joins paragraphs until there is a megabyte. */
function cutList(paragraphs: readonly string[]): string {
  let bytes = 0;
  const fitting = paragraphs.filter((text) => {
    bytes += Buffer.byteLength(text) + 2;
    return bytes <= MAX_MESSAGE_BYTES;
  });
  return fitting.join('\n\n');
}
