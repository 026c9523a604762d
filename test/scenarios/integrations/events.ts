/** Payloads of hooks, as integrations get them. */
import type { EventBody } from '../../../lib/domain/integrations/calls/call.ts';

export const ZERO = '0'.repeat(40);
export const BEFORE = 'a'.repeat(40);
export const AFTER = 'b'.repeat(40);
export const WEB = 'https://git.example.com/team/code';

const project = {
  id: 7,
  name: 'Code',
  namespace: 'Team',
  path_with_namespace: 'team/code',
  web_url: WEB,
  default_branch: 'main',
};
const user = {
  id: 1,
  name: 'Ann Bell',
  username: 'ann',
  avatar_url: 'https://git.example.com/ann.png',
  email: '[REDACTED]',
};

export const push = (message = 'Add a file\n\nMore of it', more: EventBody = {}): EventBody => ({
  object_kind: 'push',
  event_name: 'push',
  before: BEFORE,
  after: AFTER,
  ref: 'refs/heads/main',
  user_name: user.name,
  user_username: user.username,
  user_avatar: user.avatar_url,
  project,
  total_commits_count: 1,
  commits: [
    {
      id: AFTER,
      message,
      title: message.split('\n', 1)[0],
      url: `${WEB}/-/commit/${AFTER}`,
      author: { name: 'Ann Bell', email: 'ann@example.com' },
      added: ['a.txt'],
      modified: ['b.txt'],
      removed: [],
    },
  ],
  ...more,
});

export const tagPush: EventBody = {
  ...push(),
  object_kind: 'tag_push',
  ref: 'refs/tags/v1',
  before: ZERO,
  commits: [],
  total_commits_count: 0,
};

export const issue = (action = 'open'): EventBody => ({
  object_kind: 'issue',
  user,
  project,
  object_attributes: {
    iid: 3,
    title: 'It <breaks> & stops',
    description: 'When [I](https://example.com) start it',
    url: `${WEB}/-/issues/3`,
    state: action === 'close' ? 'closed' : 'opened',
    action,
  },
});

export const mergeRequest = (action = 'open', more: EventBody = {}): EventBody => ({
  object_kind: 'merge_request',
  user,
  project,
  object_attributes: {
    iid: 4,
    title: 'Repair PROJ-12',
    description: 'Closes PROJ-13',
    url: `${WEB}/-/merge_requests/4`,
    state: action === 'merge' ? 'merged' : 'opened',
    source_branch: 'topic',
    action,
    ...more,
  },
});

export const note: EventBody = {
  object_kind: 'note',
  user,
  project,
  object_attributes: { note: 'I see it too', url: `${WEB}/-/issues/3#note_9` },
  issue: { iid: 3, title: 'It breaks' },
};

export const wikiPage: EventBody = {
  object_kind: 'wiki_page',
  user,
  project,
  object_attributes: {
    title: 'Home',
    url: `${WEB}/-/wikis/home`,
    action: 'create',
    message: 'Create home',
  },
};

export const pipeline = (status = 'failed', more: EventBody = {}): EventBody => ({
  object_kind: 'pipeline',
  user,
  project,
  object_attributes: { id: 31, ref: 'main', tag: false, sha: AFTER, status, duration: 125, ...more },
  commit: { id: AFTER, title: 'Add a file', url: `${WEB}/-/commit/${AFTER}` },
  builds: [
    { id: 41, name: 'test', status: 'failed' },
    { id: 42, name: 'lint', status: 'success' },
  ],
});
