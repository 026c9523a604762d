/** Reading and changing settings. A change writes its audit events in the same transaction. */
import { isDeepStrictEqual } from 'node:util';
import type { UserRecord } from '../../records/users.ts';
import { TransactionRefused } from '../../store/errors.ts';
import type { SettingValue, StoredSettings } from '../../store/settings/settings.ts';
import type { Put } from '../../store/table/write.ts';
import type { Actor } from '../actor.ts';
import { audited, auditedUser } from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';
import { conflict, invalid } from '../errors.ts';
import { scheduleLifetimeCheck } from '../tokens/lifetimes.ts';
import { allDefaults, attributes, isSecret } from './attributes.ts';
import { defaultSettings } from './defaults.ts';
import { patternProblem } from './patterns.ts';
import { storeSecrets } from './secrets.ts';
import { problemsTogether } from './together.ts';

type Values = Readonly<Record<string, SettingValue>>;

export interface AllSettings {
  /** All settings except secrets. */
  readonly values: Values;
  /** ISO 8601; null before the first change. */
  readonly createdAt: string | null;
  readonly updatedAt: string | null;
}

const LIFETIME = 'max_personal_access_token_lifetime';

/** Number of attempts when other requests change settings at the same time. */
const MAX_ATTEMPTS = 8;
/** Maximum size in bytes of the row that every process reads every few seconds. */
const MAX_EFFECTIVE_BYTES = 100_000;
/** Maximum number of audit events of one change; a DynamoDB transaction has at most 100 writes. */
const MAX_EVENTS = 60;

export async function readSettings(deps: Deps): Promise<AllSettings> {
  const { effective, kept } = await deps.store.settings.read();
  return allOf(deps, effective, kept);
}

function allOf(deps: Deps, effective: StoredSettings, kept: StoredSettings): AllSettings {
  return {
    values: { ...allDefaults(deps.environment), ...kept.values, ...effective.values },
    createdAt: effective.createdAt ?? null,
    updatedAt: effective.updatedAt ?? null,
  };
}

/**
 * Changes the given settings, by their canonical names, and no others. A concurrent change by another administrator is
 * kept, and rules about several settings are checked against the result of both.
 *
 * @param given values of the type of each setting; null clears a nullable one
 * @throws 400 with problems by setting, 409 when other requests keep changing settings
 */
export async function changeSettings(
  deps: Deps,
  actor: Actor & { user: UserRecord },
  given: Values,
): Promise<AllSettings> {
  const secrets = Object.fromEntries(Object.entries(given).filter(([name]) => isSecret(name)));
  const shown = Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) =>
      isSecret(name) ? [] : [[name, nullAsEmptyList(name, value)]],
    ),
  );
  const problems = (
    await Promise.all(Object.entries(given).map(([name, value]) => problemsOf(name, value)))
  ).flat();
  const invalidNames = new Set(problems.map(([name]) => name));
  const sealed = await storeSecrets(deps, secrets as Readonly<Record<string, string | null>>);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const { effective, kept } = await deps.store.settings.read();
    const previous = allOf(deps, effective, kept);
    const next = { ...previous.values, ...shown };
    refuse([
      ...problems,
      ...problemsTogether(next, new Set(Object.keys(given)), invalidNames, deps.environment),
    ]);
    const changed = Object.keys(shown).filter(
      (name) => !isDeepStrictEqual(previous.values[name], shown[name]),
    );
    if (changed.length === 0 && sealed.length === 0) return previous;
    const now = deps.now();
    const [changedEffective, changedKept] = split(deps, changed, shown);
    const values = { ...nowEffective(deps, kept.values), ...effective.values, ...changedEffective };
    if (Buffer.byteLength(JSON.stringify(values)) > MAX_EFFECTIVE_BYTES)
      refuse([
        [
          changed.find((name) => name in changedEffective) ?? 'base',
          'is too long together with all other settings',
        ],
      ]);
    const events = await auditEvents(deps, actor, [
      ...changed.map((name) => ({
        change: name,
        from: auditText(previous.values[name]),
        to: auditText(shown[name]),
      })),
      ...Object.keys(secrets).map((name) => ({ change: name })),
    ]);
    const messages = changed.includes(LIFETIME)
      ? scheduleLifetimeCheck(deps, actor, shown[LIFETIME] as number | null)
      : [];
    const rows = {
      effective: { previous: effective, values },
      ...(Object.keys(changedKept).length > 0 && {
        kept: { previous: kept, values: { ...kept.values, ...changedKept } },
      }),
    };
    try {
      const stored = await deps.store.settings.replace(rows, now, [...sealed, ...events, ...messages]);
      deps.settings.changed(stored.effective);
      return allOf(deps, stored.effective, stored.kept ?? kept);
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
    }
  }
  throw conflict('Other requests are changing the settings at the same time');
}

/** Null clears a list: it becomes empty. */
const nullAsEmptyList = (name: string, value: SettingValue): SettingValue =>
  value === null && attributes[name]?.type === 'list' ? [] : value;

/**
 * Divides changed settings between the row that every process reads (`effective`) and the row for long values that no
 * rule obeys (`kept`). When a later release obeys a kept setting, the next change of any setting moves its value over.
 */
function split(deps: Deps, changed: readonly string[], given: Values): readonly [Values, Values] {
  const obeyed = defaultSettings(deps.environment);
  const isKept = (name: string) => attributes[name]!.large === true && !(name in obeyed);
  const pick = (names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, given[name] as SettingValue]));
  return [pick(changed.filter((name) => !isKept(name))), pick(changed.filter(isKept))];
}

/** Values in the `kept` row that a rule of this release obeys. */
function nowEffective(deps: Deps, kept: Values): Values {
  const obeyed = defaultSettings(deps.environment);
  return Object.fromEntries(Object.entries(kept).filter(([name]) => name in obeyed));
}

async function problemsOf(
  name: string,
  value: SettingValue,
): Promise<readonly (readonly [string, string])[]> {
  const { nullable, problem, pattern } = attributes[name]!;
  if (value === null) return nullable ? [] : [[name, "can't be blank"]];
  if (value === '' && !nullable) return [[name, "can't be blank"]];
  const text =
    problem?.(value as never) ??
    (pattern && value ? await patternProblem(String(value), pattern) : undefined);
  return text === undefined ? [] : [[name, text]];
}

/** @throws 400 when there are problems */
function refuse(problems: readonly (readonly [string, string])[]): void {
  if (problems.length === 0) return;
  const byField: Record<string, string[]> = {};
  for (const [name, text] of problems) {
    byField[name] ??= [];
    if (!byField[name].includes(text)) byField[name].push(text);
  }
  throw invalid(byField);
}

interface Change {
  readonly change: string;
  readonly from?: string | null;
  readonly to?: string | null;
}

/** An audit event for each change; beyond `MAX_EVENTS`, one event that names all the rest. */
function auditEvents(
  deps: Deps,
  actor: Actor & { user: UserRecord },
  changes: readonly Change[],
): Promise<Put[]> {
  const rest = changes.slice(MAX_EVENTS);
  const all = [
    ...changes.slice(0, MAX_EVENTS),
    ...(rest.length === 0 ? [] : [{ change: rest.map(({ change }) => change).join(', ') }]),
  ];
  return Promise.all(
    all.map(({ change, from, to }) =>
      audited(deps, actor, {
        entity: auditedUser(actor.user),
        details: { change: `application setting ${change}`, from, to },
      }),
    ),
  );
}

/** Credentials in a URL. */
const URL_CREDENTIALS = /(?<=:\/\/)[^/?#\s"]*@/g;

/** A value as audit events record it: without credentials, and cut after 200 characters. */
function auditText(value: SettingValue | undefined): string | null {
  if (value === null || value === undefined) return null;
  const text = (typeof value === 'string' ? value : JSON.stringify(value)).replace(URL_CREDENTIALS, '***@');
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
