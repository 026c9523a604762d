/** Tools that may send alerts to a project, and their keys. */

import { randomBytes } from 'node:crypto';
import {
  ALERT_CONSEQUENCES,
  type AlertConsequences,
  type AlertIntegration,
  type AlertIntegrationType,
  type AlertMapping,
  MAPPED_FIELDS,
} from '../../records/alerts.ts';
import { tokenHash } from '../access/token-check.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import { audited, auditedResource } from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';
import { creationError, forbidden, invalid, recordNotFound, refused } from '../errors.ts';
import { retryWhileStale } from '../retry-while-stale.ts';
import { forgetKeys, takeAlert } from './receive.ts';

const MAX_NAME = 255;
/** Steps to a mapped field. */
const MAX_STEPS = 20;
const MAX_STEP = 255;

export interface IntegrationInput {
  readonly name?: string | undefined;
  readonly active?: boolean | undefined;
  /** As it was sent. */
  readonly mapping?: Readonly<Record<string, unknown>> | undefined;
  readonly incidents?: { readonly [C in keyof AlertConsequences]?: boolean | undefined } | undefined;
}

/** A key is known to nobody after it was shown. */
export interface ShownOnce {
  readonly integration: AlertIntegration;
  readonly key: string;
}

/** In the order of ids. */
export const listIntegrations = (deps: Deps, { project }: ProjectAccess): Promise<AlertIntegration[]> =>
  deps.store.alertIntegrations.of(project.id);

/** @throws 404 */
export async function getIntegration(
  deps: Deps,
  { project }: ProjectAccess,
  id: number,
): Promise<AlertIntegration> {
  const integration = await deps.store.alertIntegrations.get(project.id, id);
  if (integration === undefined) throw recordNotFound();
  return integration;
}

/** @throws 400 by field, or when there are too many; 404 when the project is deleted meanwhile */
export async function createIntegration(
  deps: Deps,
  actor: Actor,
  { project }: ProjectAccess,
  input: IntegrationInput & { readonly name: string; readonly type: AlertIntegrationType },
): Promise<ShownOnce> {
  const { name, mapping } = validated(input);
  const key = newKey();
  const at = deps.now().toISOString();
  const integration: AlertIntegration = {
    id: await deps.store.alertIntegrations.nextId(),
    projectId: project.id,
    name: name!,
    type: input.type,
    active: input.active ?? true,
    endpoint: randomBytes(8).toString('hex'),
    keyHash: tokenHash(key),
    mapping: mapping ?? {},
    incidents: consequences(undefined, input.incidents),
    createdAt: at,
    updatedAt: at,
    version: 1,
  };
  const event = await told(deps, actor, project, `Created alert integration with id ${integration.id}`);
  try {
    await deps.store.alertIntegrations.create(integration, [event]);
    return { integration, key };
  } catch (error) {
    throw creationError(error, 'alert integrations');
  }
}

/** @throws 400 by field; 404; 409 */
export const changeIntegration = (
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  id: number,
  input: IntegrationInput,
): Promise<AlertIntegration> =>
  retryWhileStale(async () => {
    const before = await getIntegration(deps, access, id);
    const { name = before.name, mapping = before.mapping } = validated(input);
    const incidents = consequences(before.incidents, input.incidents);
    const change = { name, mapping, active: input.active ?? before.active, incidents };
    const event = await told(deps, actor, access.project, `Changed alert integration with id ${id}`);
    const changed = await deps.store.alertIntegrations.change(before, change, deps.now(), [event]);
    forgetKeys(deps);
    return changed;
  });

/** Gives it another key; the former one is no longer good, in other processes after five seconds. @throws 404; 409 */
export const rotateKey = (deps: Deps, actor: Actor, access: ProjectAccess, id: number): Promise<ShownOnce> =>
  retryWhileStale(async () => {
    const before = await getIntegration(deps, access, id);
    const key = newKey();
    const text = `Changed the key of alert integration with id ${id}`;
    const event = await told(deps, actor, access.project, text);
    const change = { keyHash: tokenHash(key) };
    const integration = await deps.store.alertIntegrations.change(before, change, deps.now(), [event]);
    forgetKeys(deps);
    return { integration, key };
  });

/**
 * @param unchanged called with the time of the last change; throws if that is later than the caller allows
 * @throws 404; 409
 */
export const removeIntegration = (
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  id: number,
  unchanged: (changed: string) => void,
): Promise<void> =>
  retryWhileStale(async () => {
    const integration = await getIntegration(deps, access, id);
    unchanged(integration.updatedAt);
    const event = await told(deps, actor, access.project, `Removed alert integration with id ${id}`);
    await deps.store.alertIntegrations.remove(integration, [event]);
    forgetKeys(deps);
  });

/** Takes an alert as if its tool had sent it. @throws 403 for one that is switched off; 404 */
export async function tryIntegration(
  deps: Deps,
  access: ProjectAccess,
  id: number,
  payload: Readonly<Record<string, unknown>>,
  baseUrl: string,
): Promise<void> {
  const integration = await getIntegration(deps, access, id);
  if (!integration.active) throw forbidden('the integration is switched off');
  await takeAlert(deps, integration, JSON.stringify(payload), baseUrl);
}

const newKey = (): string => randomBytes(32).toString('hex');

const told = (deps: Deps, actor: Actor, project: ProjectAccess['project'], text: string) =>
  audited(deps, actor, { entity: auditedResource('Project', project), details: { custom_message: text } });

/** What is not said stays. */
const consequences = (
  before: AlertConsequences | undefined,
  { createIssue, autoCloseIncident, sendEmail }: NonNullable<IntegrationInput['incidents']> = {},
): AlertConsequences => {
  const now = before ?? ALERT_CONSEQUENCES;
  return {
    createIssue: createIssue ?? now.createIssue,
    autoCloseIncident: autoCloseIncident ?? now.autoCloseIncident,
    sendEmail: sendEmail ?? now.sendEmail,
  };
};

/** @throws 400 */
function validated({ name, mapping }: IntegrationInput): { name?: string; mapping?: AlertMapping } {
  const trimmed = name?.trim();
  if (trimmed === '') throw invalid({ name: ["can't be blank"] });
  if (trimmed !== undefined && trimmed.length > MAX_NAME)
    throw invalid({ name: [`is too long (maximum is ${MAX_NAME} characters)`] });
  return {
    ...(trimmed === undefined ? {} : { name: trimmed }),
    ...(mapping === undefined ? {} : { mapping: mappingIn(mapping) }),
  };
}

/** `{ title: { path: ['event', 'name'] } }`. @throws 400 */
function mappingIn(given: Readonly<Record<string, unknown>>): AlertMapping {
  const fields: Record<string, readonly (string | number)[]> = {};
  for (const [name, value] of Object.entries(given)) {
    if (!MAPPED_FIELDS.some((field) => field === name))
      throw refused(`payload_attribute_mappings: ${name.slice(0, MAX_STEP)} is not a field of alerts`);
    const path: unknown = typeof value === 'object' && value !== null && 'path' in value ? value.path : value;
    const valid = Array.isArray(path) && path.length > 0 && path.length <= MAX_STEPS && path.every(isStep);
    if (!valid) throw refused(`payload_attribute_mappings: ${name} needs a path: a list of names`);
    fields[name] = path;
  }
  return fields;
}

const isStep = (step: unknown): step is string | number =>
  typeof step === 'string' ? step !== '' && step.length <= MAX_STEP : Number.isSafeInteger(step);
