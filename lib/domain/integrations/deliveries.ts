/** What integrations are told of an event, and the calls that tell it. */
import type { HookOrder } from '../../outbound/hook-call.ts';
import type { HookSwitch } from '../../records/hooks.ts';
import type { IntegrationRecord, IntegrationSwitch } from '../../records/integrations.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { secretOwnerOf } from '../../store/integrations/integrations.ts';
import type { Deps } from '../deps.ts';
import { outboundAllow } from '../imports/plan.ts';
import { patternMatcher } from '../refs/pattern.ts';
import { CALLS } from './calls/all.ts';
import { type Content, type EventBody, refName, textOf, type Values } from './calls/call.ts';
import { type IntegrationSlug, kindOf } from './catalog.ts';

/** The payload of a hook, for integrations. */
export interface ToldEvent {
  readonly trigger: HookSwitch;
  readonly event: string;
  readonly body: EventBody;
}

/** Whether an integration hears of such events. */
export function listens({ slug, off }: IntegrationRecord, trigger: HookSwitch): boolean {
  const name = slug === 'jira' && trigger === 'push_events' ? 'commit_events' : trigger;
  const { hears } = kindOf(slug as IntegrationSlug);
  return (hears as readonly string[]).includes(name) && !off.includes(name as IntegrationSwitch);
}

/** What an integration was given, with the defaults of what it was not. */
export function valuesOf({ slug, properties, off }: IntegrationRecord): Values {
  const { parameters } = kindOf(slug as IntegrationSlug);
  const defaults = Object.entries(parameters).map(([name, { default: value }]) => [name, value]);
  return {
    ...Object.fromEntries(defaults),
    ...properties,
    comment_on_event_enabled: !off.includes('comment_on_event_enabled'),
  };
}

/** What an integration is to be told of an event: a call for each. */
export async function contentsFor(
  deps: Deps,
  integration: IntegrationRecord,
  project: ProjectRecord,
  told: ToldEvent,
  baseUrl: string,
): Promise<readonly Content[]> {
  const calls = CALLS[integration.slug as IntegrationSlug];
  if (calls === undefined || !(await isChosen(deps, integration, project, told))) return [];
  const { serviceName } = deps.environment;
  return calls.prepare({ ...told, values: valuesOf(integration), serviceName, baseUrl });
}

/** Whether an integration wants to be told: by its switches, the branch, and how a pipeline ended. */
export async function isChosen(
  deps: Deps,
  integration: IntegrationRecord,
  project: ProjectRecord,
  told: ToldEvent,
): Promise<boolean> {
  if (!listens(integration, told.trigger)) return false;
  const values = valuesOf(integration);
  if (told.trigger === 'pipeline_events' && 'notify_only_broken_pipelines' in values) {
    const status = told.body['object_attributes']?.status;
    const all = values['notify_only_broken_pipelines'] === false;
    if (status !== 'failed' && !(all && status === 'success')) return false;
  }
  return isOnBranch(deps, project, told, textOf(values['branches_to_be_notified']));
}

async function isOnBranch(
  { store }: Deps,
  project: ProjectRecord,
  { trigger, body }: ToldEvent,
  choice: string,
): Promise<boolean> {
  if (choice === '' || choice === 'all') return true;
  const pipeline = trigger === 'pipeline_events' ? body['object_attributes'] : undefined;
  const branch =
    trigger === 'push_events' ? refName(body['ref']) : pipeline?.tag === true ? undefined : pipeline?.ref;
  if (branch === undefined) return true;
  if (choice !== 'protected' && branch === project.defaultBranch) return true;
  if (choice === 'default') return false;
  const rules = await store.refRules.list(project.id, 'branch');
  return rules.some(({ name }) => patternMatcher(name)(branch));
}

/** The order of a call. */
export async function orderFor(
  deps: Deps,
  integration: IntegrationRecord,
  content: Content,
  event: string,
): Promise<Omit<HookOrder, 'payload'> & { readonly body: string }> {
  const [secrets, settings] = await Promise.all([secretsOf(deps, integration), deps.settings.current()]);
  const { serviceName } = deps.environment;
  const request = CALLS[integration.slug as IntegrationSlug]!.request(content, {
    values: valuesOf(integration),
    secrets,
    serviceName,
    event,
  });
  const { method, url, headers, body = '', anyCertificate = false, answerBytes } = request;
  return {
    ...(method === undefined ? {} : { method }),
    url,
    headers: { 'User-Agent': serviceName, ...headers },
    body,
    anyCertificate,
    allow: outboundAllow(deps, settings),
    ...(answerBytes === undefined ? {} : { answerBytes }),
  };
}

async function secretsOf({ secrets }: Deps, integration: IntegrationRecord) {
  if (secrets === undefined) throw new Error('this Lambda function has no access to the master key');
  const owner = secretOwnerOf(integration);
  const read = async (name: string) => [name, await secrets.read(owner, name)] as const;
  return Object.fromEntries(await Promise.all(integration.secrets.map(read)));
}

/** What is to be told after an answer. */
export function contentsAfter(
  integration: IntegrationRecord,
  content: Content,
  answer: string,
): readonly Content[] {
  const calls = CALLS[integration.slug as IntegrationSlug];
  return calls?.next?.(content, answer, { values: valuesOf(integration) }) ?? [];
}
