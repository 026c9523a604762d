/** Every kind of integration: its name, what it is given, and what it hears of. */
import type { IntegrationSwitch } from '../../records/integrations.ts';

export interface Parameter {
  /** `url`: one that the service calls; `link`: one that it shows; the rest is what it is in the REST API. */
  readonly type: 'text' | 'url' | 'link' | 'boolean' | 'integer' | 'branches' | 'recipients';
  readonly required?: true;
  /** It is sealed, and never shown. */
  readonly secret?: true;
  /** What counts where it is not given. */
  readonly default?: string | boolean;
}

export interface IntegrationKind {
  /** What it is called in the interface. */
  readonly title: string;
  readonly parameters: Readonly<Record<string, Parameter>>;
  /** The events that it can be sent. */
  readonly hears: readonly IntegrationSwitch[];
}

const text = { type: 'text' } as const;
const flag = { type: 'boolean' } as const;
const needed = { type: 'text', required: true } as const;
const secret = { type: 'text', secret: true } as const;
const neededSecret = { type: 'text', required: true, secret: true } as const;
const server = { type: 'url', required: true } as const;
const link = { type: 'link', required: true } as const;
const branches = { type: 'branches', default: 'default' } as const;
const recipients = { type: 'recipients', required: true } as const;
const broken = { type: 'boolean', default: true } as const;

const PUSH = ['push_events'] as const;
const BUILDS = ['push_events', 'merge_requests_events', 'tag_push_events'] as const;
const ALL = [
  'push_events',
  'issues_events',
  'confidential_issues_events',
  'merge_requests_events',
  'note_events',
  'confidential_note_events',
  'tag_push_events',
  'pipeline_events',
  'wiki_page_events',
] as const;

/** What all chats have that are sent messages through a URL. */
const chat = { webhook: server, notify_only_broken_pipelines: broken, branches_to_be_notified: branches };
const CHANNELS = [
  'push_channel',
  'issue_channel',
  'confidential_issue_channel',
  'merge_request_channel',
  'note_channel',
  'confidential_note_channel',
  'tag_push_channel',
  'pipeline_channel',
  'wiki_page_channel',
] as const;
const chatWithChannels = {
  ...chat,
  username: text,
  channel: text,
  ...(Object.fromEntries(CHANNELS.map((name) => [name, text])) as Record<string, Parameter>),
};
const tracker = { new_issue_url: link, issues_url: link, project_url: link };

/** By slug. */
export const INTEGRATIONS = {
  asana: { title: 'Asana', hears: PUSH, parameters: { api_key: neededSecret, restrict_to_branch: text } },
  assembla: { title: 'Assembla', hears: PUSH, parameters: { token: neededSecret, subdomain: text } },
  bamboo: {
    title: 'Atlassian Bamboo',
    hears: PUSH,
    parameters: {
      bamboo_url: server,
      build_key: needed,
      username: needed,
      password: neededSecret,
      enable_ssl_verification: flag,
    },
  },
  bugzilla: {
    title: 'Bugzilla',
    hears: [],
    parameters: { ...tracker, title: text, description: text },
  },
  buildkite: {
    title: 'Buildkite',
    hears: BUILDS,
    parameters: { token: neededSecret, project_url: link, enable_ssl_verification: flag },
  },
  campfire: {
    title: 'Campfire',
    hears: PUSH,
    parameters: { token: neededSecret, subdomain: text, room: text },
  },
  confluence: { title: 'Confluence Workspace', hears: [], parameters: { confluence_url: link } },
  'custom-issue-tracker': {
    title: 'Custom issue tracker',
    hears: [],
    parameters: { ...tracker, title: text, description: text },
  },
  datadog: {
    title: 'Datadog',
    hears: ['pipeline_events', 'job_events'],
    parameters: {
      api_key: neededSecret,
      datadog_site: { type: 'text', default: 'datadoghq.com' },
      api_url: { type: 'url' },
      datadog_service: text,
      datadog_env: text,
      datadog_tags: text,
    },
  },
  discord: { title: 'Discord Notifications', hears: ALL, parameters: chat },
  'drone-ci': {
    title: 'Drone',
    hears: BUILDS,
    parameters: { token: neededSecret, drone_url: server, enable_ssl_verification: flag },
  },
  'emails-on-push': {
    title: 'Emails on push',
    hears: ['push_events', 'tag_push_events'],
    parameters: {
      recipients,
      disable_diffs: flag,
      send_from_committer_email: flag,
      branches_to_be_notified: { type: 'branches', default: 'all' },
    },
  },
  ewm: { title: 'EWM', hears: [], parameters: tracker },
  'external-wiki': { title: 'External wiki', hears: [], parameters: { external_wiki_url: link } },
  flowdock: { title: 'Flowdock', hears: PUSH, parameters: { token: neededSecret } },
  github: {
    title: 'GitHub',
    hears: ['pipeline_events'],
    parameters: { token: neededSecret, repository_url: server, static_context: flag },
  },
  'hangouts-chat': { title: 'Google Chat', hears: ALL, parameters: chat },
  irker: {
    title: 'irker (IRC gateway)',
    hears: PUSH,
    parameters: {
      recipients: needed,
      default_irc_uri: text,
      server_host: { type: 'text', default: 'localhost' },
      server_port: { type: 'integer' },
      colorize_messages: flag,
    },
  },
  jenkins: {
    title: 'Jenkins',
    hears: BUILDS,
    parameters: {
      jenkins_url: server,
      project_name: needed,
      username: text,
      password: secret,
      enable_ssl_verification: flag,
    },
  },
  jira: {
    title: 'Jira',
    hears: ['commit_events', 'merge_requests_events'],
    parameters: {
      url: server,
      api_url: { type: 'url' },
      username: needed,
      password: neededSecret,
      jira_issue_transition_automatic: flag,
      jira_issue_transition_id: text,
    },
  },
  mattermost: { title: 'Mattermost notifications', hears: ALL, parameters: chatWithChannels },
  'mattermost-slash-commands': {
    title: 'Mattermost slash commands',
    hears: [],
    parameters: { token: neededSecret },
  },
  'microsoft-teams': { title: 'Microsoft Teams notifications', hears: ALL, parameters: chat },
  packagist: {
    title: 'Packagist',
    hears: BUILDS,
    parameters: { username: needed, token: neededSecret, server: { type: 'url' } },
  },
  'pipelines-email': {
    title: 'Pipeline status emails',
    hears: ['pipeline_events'],
    parameters: {
      recipients,
      notify_only_broken_pipelines: broken,
      branches_to_be_notified: branches,
    },
  },
  pivotaltracker: {
    title: 'Pivotal Tracker',
    hears: PUSH,
    parameters: { token: neededSecret, restrict_to_branch: text },
  },
  prometheus: {
    title: 'Prometheus',
    hears: [],
    parameters: {
      api_url: server,
      google_iap_audience_client_id: needed,
      google_iap_service_account_json: neededSecret,
    },
  },
  pushover: {
    title: 'Pushover',
    hears: PUSH,
    parameters: {
      api_key: neededSecret,
      user_key: neededSecret,
      priority: needed,
      device: needed,
      sound: needed,
    },
  },
  redmine: { title: 'Redmine', hears: [], parameters: tracker },
  shimo: { title: 'Shimo', hears: [], parameters: { external_wiki_url: link } },
  slack: { title: 'Slack notifications', hears: ALL, parameters: chatWithChannels },
  'slack-slash-commands': {
    title: 'Slack slash commands',
    hears: [],
    parameters: { token: neededSecret },
  },
  teamcity: {
    title: 'JetBrains TeamCity',
    hears: ['push_events', 'merge_requests_events'],
    parameters: {
      teamcity_url: server,
      build_type: needed,
      username: needed,
      password: neededSecret,
      enable_ssl_verification: flag,
    },
  },
  'unify-circuit': { title: 'Unify Circuit', hears: ALL, parameters: chat },
  'webex-teams': { title: 'Webex Teams', hears: ALL, parameters: chat },
  youtrack: { title: 'YouTrack', hears: [], parameters: { project_url: link, issues_url: link } },
  zentao: {
    title: 'ZenTao',
    hears: [],
    parameters: {
      url: server,
      api_url: { type: 'url' },
      api_token: neededSecret,
      zentao_product_xid: needed,
    },
  },
} as const satisfies Readonly<Record<string, IntegrationKind>>;

export type IntegrationSlug = keyof typeof INTEGRATIONS;
export const SLUGS = Object.keys(INTEGRATIONS) as IntegrationSlug[];
export const kindOf = (slug: IntegrationSlug): IntegrationKind => INTEGRATIONS[slug];

export const isSecret = ({ secret: sealed }: Parameter): boolean => sealed === true;

/** Parameters that answers do not have, by their names. */
const UNSHOWN = /password|token|key|title|description/;
export const isShown = (name: string, parameter: Parameter): boolean =>
  !isSecret(parameter) && !UNSHOWN.test(name);

export const BRANCHES = ['all', 'default', 'protected', 'default_and_protected'] as const;
