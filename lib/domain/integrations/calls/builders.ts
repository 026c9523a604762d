/** Servers that build, and others that are sent the payload of a hook or a word about it. */
import {
  anyCertificate,
  basic,
  type CallRequest,
  type CallsOf,
  type EventBody,
  type Happening,
  isNone,
  json,
  query,
  refName,
  type Settings,
  textOf,
  under,
} from './call.ts';

/** Whether there is something new to build. */
function isBuilt({ body }: Pick<Happening, 'body'>): boolean {
  switch (body['object_kind']) {
    case 'push':
      return !isNone(body['after']) && Number(body['total_commits_count'] ?? 0) > 0;
    case 'tag_push':
      return !isNone(body['after']);
    case 'merge_request': {
      const { state, action, oldrev } = body['object_attributes'] ?? {};
      return state === 'opened' && (action === 'open' || action === 'reopen' || oldrev !== undefined);
    }
    default:
      return false;
  }
}

const headersOf = ({ event, serviceName }: Settings): Record<string, string> => ({
  'X-Gitlab-Event': event,
  ...(serviceName === 'Gitlab' ? {} : { [`X-${serviceName}-Event`]: event }),
});

/** Sends the payload of the hook. */
const hook = (
  url: (settings: Settings, body: EventBody) => string,
  {
    when = () => true,
    more = () => ({}),
  }: {
    when?: (happening: Happening) => boolean;
    more?: (settings: Settings) => Partial<CallRequest>;
  } = {},
): CallsOf => ({
  prepare: (happening) => (when(happening) ? [happening.body] : []),
  request(body, settings) {
    const { headers, ...rest } = more(settings);
    return { ...json(url(settings, body), body, { ...headersOf(settings), ...headers }), ...rest };
  },
});

const buildkite = hook(
  ({ secrets }) =>
    // The token has a second part, for reading what became of a build.
    `https://webhook.buildkite.com/deliver/${encodeURIComponent((secrets['token'] ?? '').split(':')[0]!)}`,
  { when: isBuilt },
);

const drone = hook(
  ({ values, secrets }, { project }) => {
    const path = String(project?.path_with_namespace ?? '');
    const at = path.lastIndexOf('/');
    const given = query({
      owner: path.slice(0, at),
      name: path.slice(at + 1),
      access_token: secrets['token'] ?? '',
    });
    return `${under(textOf(values['drone_url']), 'hook')}?${given}`;
  },
  { when: isBuilt, more: ({ values }) => ({ anyCertificate: anyCertificate(values) }) },
);

const jenkins = hook(
  ({ values }) =>
    under(
      textOf(values['jenkins_url']),
      `project/${textOf(values['project_name']).split('/').map(encodeURIComponent).join('/')}`,
    ),
  {
    when: isBuilt,
    more: ({ values, secrets }) => ({
      anyCertificate: anyCertificate(values),
      ...(textOf(values['username']) === ''
        ? {}
        : { headers: { Authorization: basic(textOf(values['username']), secrets['password'] ?? '') } }),
    }),
  },
);

const packagist = hook(({ values, secrets }) => {
  const given = query({ username: textOf(values['username']), apiToken: secrets['token'] ?? '' });
  return `${under(textOf(values['server']) || 'https://packagist.org', 'api/update-package')}?${given}`;
});

const datadog = hook(({ values, secrets }) => {
  const site = textOf(values['datadog_site']) || 'datadoghq.com';
  const root = textOf(values['api_url']) || `https://webhooks-http-intake.logs.${site}/api/v2/webhook`;
  const tags = textOf(values['datadog_tags'])
    .split('\n')
    .map((tag) => tag.trim());
  const given = query({
    'dd-api-key': secrets['api_key'] ?? '',
    service: textOf(values['datadog_service']),
    env: textOf(values['datadog_env']),
    tags: tags.filter((tag) => tag !== '').join(','),
  });
  return `${root}${root.includes('?') ? '&' : '?'}${given}`;
});

const bamboo: CallsOf = {
  prepare: (happening) => (isBuilt(happening) ? [{}] : []),
  request(_content, { values, secrets }) {
    const given = query({ buildKey: textOf(values['build_key']), os_authType: 'basic' });
    return {
      method: 'GET',
      url: `${under(textOf(values['bamboo_url']), 'updateAndBuild.action')}?${given}`,
      headers: { Authorization: basic(textOf(values['username']), secrets['password'] ?? '') },
      anyCertificate: anyCertificate(values),
    };
  },
};

const attribute = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

const teamcity: CallsOf = {
  prepare: (happening) =>
    isBuilt(happening)
      ? [
          {
            branch:
              happening.body['object_kind'] === 'push'
                ? refName(happening.body['ref'])
                : happening.body['object_attributes']?.source_branch,
          },
        ]
      : [],
  request: ({ branch }, { values, secrets }) => ({
    url: under(textOf(values['teamcity_url']), 'httpAuth/app/rest/buildQueue'),
    headers: {
      'Content-Type': 'application/xml',
      Authorization: basic(textOf(values['username']), secrets['password'] ?? ''),
    },
    body: `<build branchName="${attribute(String(branch))}"><buildType id="${attribute(textOf(values['build_type']))}"/></build>`,
    anyCertificate: anyCertificate(values),
  }),
};

const STATES: Readonly<Record<string, string>> = {
  created: 'pending',
  waiting_for_resource: 'pending',
  preparing: 'pending',
  pending: 'pending',
  running: 'pending',
  manual: 'pending',
  scheduled: 'pending',
  success: 'success',
  skipped: 'success',
  failed: 'failure',
  canceled: 'error',
};

const github: CallsOf = {
  prepare({ body, baseUrl, values, serviceName }) {
    const { id, ref, sha, status } = body['object_attributes'] ?? {};
    const state = STATES[status];
    if (state === undefined || sha === undefined) return [];
    const host = URL.parse(baseUrl)?.host ?? baseUrl;
    const name = serviceName.toLowerCase();
    return [
      {
        sha,
        status: {
          state,
          description: `Pipeline ${status} on ${serviceName}`,
          target_url: `${body['project']?.web_url}/-/pipelines/${id}`,
          context: `ci/${name}/${values['static_context'] === false ? ref : host}`,
        },
      },
    ];
  },
  request({ sha, status }, { values, secrets }) {
    const url = URL.parse(textOf(values['repository_url']));
    const api = url?.host === 'github.com' ? 'https://api.github.com' : `${url?.origin}/api/v3`;
    const path = url?.pathname.replace(/\.git$|\/$/, '') ?? '';
    return json(`${api}/repos${path}/statuses/${sha}`, status, {
      Authorization: `token ${secrets['token']}`,
      Accept: 'application/vnd.github.v3+json',
    });
  },
};

export const builders = {
  bamboo,
  buildkite,
  datadog,
  'drone-ci': drone,
  github,
  jenkins,
  packagist,
  teamcity,
};
