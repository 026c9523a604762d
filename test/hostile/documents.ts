/** Texts that are slow to read as Markdown, or to find references in, as long as a description may be. */

const LENGTH = 2 ** 20;
const filled = (part: string, length = LENGTH): string =>
  part.repeat(Math.ceil(length / part.length)).slice(0, length);

export interface HostileDocument {
  readonly name: string;
  readonly text: string;
}

const numbered = (line: (i: number) => string, count: number): string =>
  Array.from({ length: count }, (_, i) => line(i)).join('');

/** It is longer than what is rendered at once. */
export const ORDINARY_DOCUMENT: HostileDocument = {
  name: 'ordinary',
  text: 'See #1 and `code` of @root.\n\n'.repeat(1000),
};

export const DOCUMENTS: readonly HostileDocument[] = Object.entries({
  'one word': filled('a'),
  'beginnings of paths': filled(`${'é'}${'a'.repeat(254)}/`),
  'short paths': filled('é/a'),
  brackets: filled('[', 250_000),
  links: filled('[a](<b', 250_000),
  emphasis: filled('*a_ ', 250_000),
  backticks: numbered((i) => `${'`'.repeat((i % 1000) + 1)} `, 2000),
  quotes: filled('>', 250_000),
  'nested lists': numbered((i) => `${' '.repeat(2 * (i % 700))}- a\n`, 700),
  tables: `|a|b|\n|-|-|\n${filled('|', 4000)}`,
  'code that is not closed': filled('```\na\n'),
  newlines: filled('\n'),
  'front matter': `---\n${filled('a: b\n')}`,
  tasks: filled('- [ ] a\n'),
  references: numbered((i) => `#${i} !${i} $${i} &${i} ~l${i} %"m${i}" @u${i} `, 12_000),
  mentions: numbered((i) => `@user${i} `, 60_000),
  'words that close': filled('Closes #1, #2 and '),
  'quick actions': filled('/label ~a ~b\n'),
  commits: numbered((i) => `${(i * 7919).toString(16).padStart(40, '0')} `, 25_000),
  entities: filled('&lt;&#x4e2d;'),
  HTML: filled('<a href="x" ', 250_000),
  emoji: filled(':smile:', 250_000),
  footnotes: numbered((i) => `[^${i}] [^${i}]: a\n\n`, 10_000),
  addresses: filled('http://127.0.0.1/a/b/-/issues/1 '),
  'words of trackers': filled('ABC-1 '),
}).map(([name, text]) => ({ name, text }));

export interface DocumentStep {
  readonly method: string;
  /** Below `/api/v4`; `:id` is the project, `:n` the number of the document from 1. */
  readonly path: string;
  /** `:text` is the document. */
  readonly json?: Readonly<Record<string, unknown>>;
}

/** Everything that reads a text of Markdown, or shows it. */
export const DOCUMENT_STEPS: readonly DocumentStep[] = [
  { method: 'POST', path: '/markdown', json: { text: ':text' } },
  { method: 'POST', path: '/markdown', json: { text: ':text', gfm: true, project: 'root/documents' } },
  { method: 'POST', path: '/projects/:id/issues', json: { title: 't', description: ':text' } },
  { method: 'GET', path: '/projects/:id/issues/:n' },
  { method: 'GET', path: '/projects/:id/issues?per_page=100' },
  { method: 'PUT', path: '/projects/:id/issues/:n', json: { description: ':text changed' } },
  { method: 'POST', path: '/projects/:id/issues/:n/notes', json: { body: ':text' } },
  { method: 'GET', path: '/projects/:id/issues/:n/notes' },
  { method: 'GET', path: '/projects/:id/issues/:n/discussions' },
  { method: 'PUT', path: '/projects/:id/merge_requests/1', json: { description: ':text' } },
  { method: 'GET', path: '/projects/:id/merge_requests/1?render_html=true' },
  { method: 'GET', path: '/projects/:id/merge_requests/1/closes_issues' },
  { method: 'POST', path: '/projects/:id/milestones', json: { title: 'm:n', description: ':text' } },
  {
    method: 'POST',
    path: '/projects/:id/labels',
    json: { name: 'l:n', color: '#fff', description: ':text' },
  },
  { method: 'GET', path: '/projects/:id/labels' },
  {
    method: 'POST',
    path: '/projects/:id/releases',
    json: { tag_name: 'v:n', ref: 'main', description: ':text' },
  },
  { method: 'GET', path: '/projects/:id/releases/v:n?include_html_description=true' },
  { method: 'POST', path: '/projects/:id/wikis', json: { title: 'w:n', content: ':text' } },
  { method: 'GET', path: '/projects/:id/wikis/w:n?render_html=true' },
  { method: 'GET', path: '/projects/:id/wikis?with_content=true' },
  {
    method: 'POST',
    path: '/projects/:id/wikis',
    json: { title: 'a:n', format: 'asciidoc', content: ':text' },
  },
  { method: 'GET', path: '/projects/:id/wikis/a:n?render_html=true' },
  {
    method: 'POST',
    path: '/projects/:id/snippets',
    json: { title: 's', description: ':text', visibility: 'public', file_name: 'a.md', content: ':text' },
  },
  {
    method: 'POST',
    path: '/projects/:id/repository/commits',
    json: {
      branch: 'main',
      commit_message: ':text',
      actions: [
        ...['README.md', '.gitlab/issue_templates/t:n.md', '.gitlab/merge_request_templates/t:n.md'].map(
          (file_path) => ({ action: 'create', file_path, content: ':text' }),
        ),
      ],
    },
  },
  { method: 'GET', path: '/projects/:id/repository/commits/main' },
  { method: 'GET', path: '/projects/:id/repository/files/README.md?ref=main' },
  { method: 'GET', path: '/projects/:id/templates/issues' },
  { method: 'GET', path: '/projects/:id/templates/issues/t:n' },
  { method: 'GET', path: '/projects/:id/templates/merge_requests/t:n' },
  { method: 'GET', path: '/projects/:id/search?scope=blobs&search=a' },
  {
    method: 'DELETE',
    path: '/projects/:id/repository/files/README.md',
    json: { branch: 'main', commit_message: 'm' },
  },
];
