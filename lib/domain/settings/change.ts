/** Settings are read and changed by administrators; what changed is recorded in the change's own transaction. */
import { isDeepStrictEqual } from 'node:util';
import type { UserRecord } from '../../records/users.ts';
import { TransactionRefused } from '../../store/errors.ts';
import type { SettingValue, StoredSettings } from '../../store/settings/settings.ts';
import type { Put } from '../../store/table/write.ts';
import type { Actor } from '../actor.ts';
import { audited, auditedUser } from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';
import { conflict, invalid } from '../errors.ts';
import { promisesLifetime } from '../tokens/lifetimes.ts';
import { allDefaults, attributes, isSecret } from './attributes.ts';
import { defaultSettings } from './defaults.ts';
import { storeSecrets } from './secrets.ts';
import { problemsTogether } from './together.ts';

type Values = Readonly<Record<string, SettingValue>>;

export interface AllSettings {
  /** All that is told: no secrets. */
  readonly values: Values;
  /** ISO 8601; null while nobody changed anything. */
  readonly createdAt: string | null;
  readonly updatedAt: string | null;
}

const LIFETIME = 'max_personal_access_token_lifetime';

/** Others who changed something at the same time are looked at again this often. */
const ATTEMPTS = 8;
/** Bytes of what every process reads every few seconds. */
const EFFECTIVE_BYTES = 100_000;
/** Events that one change may leave; a transaction has a hundred writes. */
const EVENTS = 60;

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
 * Sets what is given, by the settings' own names, and nothing else: what another administrator sets at the same time
 * stays, and rules about several of them hold for what both of them did.
 *
 * @param given values of each one's type; null takes away what may be taken away
 * @throws 400 with problems by field, 409 when others change settings without end
 */
export async function changeSettings(
  deps: Deps,
  actor: Actor & { user: UserRecord },
  given: Values,
): Promise<AllSettings> {
  const secrets = Object.fromEntries(Object.entries(given).filter(([name]) => isSecret(name)));
  const shown = Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => (isSecret(name) ? [] : [[name, unnulled(name, value)]])),
  );
  const own = Object.entries(given).flatMap(([name, value]) => problemsOf(name, value));
  const unsound = new Set(own.map(([name]) => name));
  const sealed = await storeSecrets(deps, secrets as Readonly<Record<string, string | null>>);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const { effective, kept } = await deps.store.settings.read();
    const was = allOf(deps, effective, kept);
    const becomes = { ...was.values, ...shown };
    refuse([...own, ...problemsTogether(becomes, new Set(Object.keys(given)), unsound)]);
    const changed = Object.keys(shown).filter((name) => !isDeepStrictEqual(was.values[name], shown[name]));
    if (changed.length === 0 && sealed.length === 0) return was;
    const now = deps.now();
    const [next, others] = split(deps, changed, shown);
    const values = { ...comeToBeObeyed(deps, kept.values), ...effective.values, ...next };
    if (Buffer.byteLength(JSON.stringify(values)) > EFFECTIVE_BYTES)
      refuse([[changed.find((name) => name in next) ?? 'base', 'is too long with all other settings']]);
    const events = await recorded(deps, actor, [
      ...changed.map((name) => ({ change: name, from: told(was.values[name]), to: told(shown[name]) })),
      ...Object.keys(secrets).map((name) => ({ change: name })),
    ]);
    const promises = changed.includes(LIFETIME)
      ? promisesLifetime(deps, actor, shown[LIFETIME] as number | null)
      : [];
    const rows = {
      effective: { was: effective, values },
      ...(Object.keys(others).length > 0 && { kept: { was: kept, values: { ...kept.values, ...others } } }),
    };
    try {
      const stored = await deps.store.settings.replace(rows, now, [...sealed, ...events, ...promises]);
      deps.settings.changed(stored.effective);
      return allOf(deps, stored.effective, stored.kept ?? kept);
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
    }
  }
  throw conflict('Others are changing the settings at the same time');
}

/** A list that is taken away is empty. */
const unnulled = (name: string, value: SettingValue): SettingValue =>
  value === null && attributes[name]?.type === 'list' ? [] : value;

/**
 * What every process reads, and what it need not: so a rule that comes to obey a setting finds what was set before;
 * long texts and lists with the next change of any setting.
 */
function split(deps: Deps, changed: readonly string[], given: Values): readonly [Values, Values] {
  const obeyed = defaultSettings(deps.environment);
  const apart = (name: string) => attributes[name]!.large === true && !(name in obeyed);
  const of = (names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, given[name] as SettingValue]));
  return [of(changed.filter((name) => !apart(name))), of(changed.filter(apart))];
}

/** What was only kept before, and some rule obeys by now. */
function comeToBeObeyed(deps: Deps, kept: Values): Values {
  const obeyed = defaultSettings(deps.environment);
  return Object.fromEntries(Object.entries(kept).filter(([name]) => name in obeyed));
}

function problemsOf(name: string, value: SettingValue): readonly (readonly [string, string])[] {
  const { nullable, problem } = attributes[name]!;
  if (value === null) return nullable ? [] : [[name, "can't be blank"]];
  if (value === '' && !nullable) return [[name, "can't be blank"]];
  const text = problem?.(value as never);
  return text === undefined ? [] : [[name, text]];
}

/** @throws 400 when there is any */
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

/** An event for each; of more than a transaction holds, one for all the rest. */
function recorded(
  deps: Deps,
  actor: Actor & { user: UserRecord },
  changes: readonly Change[],
): Promise<Put[]> {
  const rest = changes.slice(EVENTS);
  const all = [
    ...changes.slice(0, EVENTS),
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

/** Who signs in to the server of a URL, and how. */
const SIGN_IN = /(?<=:\/\/)[^/?#\s"]*@/g;

/** A value as an event tells it, for good: texts without credentials, and no more than a glance at long ones. */
function told(value: SettingValue | undefined): string | null {
  if (value === null || value === undefined) return null;
  const text = (typeof value === 'string' ? value : JSON.stringify(value)).replace(SIGN_IN, '***@');
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
