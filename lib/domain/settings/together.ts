/** Validation of settings that depend on each other. */

import { secondsOf } from '../../durations/durations.ts';
import type { StoreEnvironment } from '../../store/environment.ts';
import type { SettingValue } from '../../store/settings/settings.ts';

const DAY_SECONDS = 86_400;
const LEVELS = ['default_project_visibility', 'default_group_visibility', 'default_snippet_visibility'];
const KEYS = [
  'rsa_key_restriction',
  'dsa_key_restriction',
  'ecdsa_key_restriction',
  'ed25519_key_restriction',
];
const BLANK = "can't be blank";

/** Validates the settings as they would be after a change. Returns errors as pairs of setting and message. */
type Check = (
  settings: Readonly<Record<string, SettingValue>>,
  environment: StoreEnvironment,
) => readonly (readonly [string, string])[];

const isBlank = (value: SettingValue | undefined): boolean =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);

/** Requires settings to be set while another one is on. */
const needs =
  (enabled: string, ...names: readonly string[]): Check =>
  (settings) =>
    settings[enabled] === true
      ? names.filter((name) => isBlank(settings[name])).map((name) => [name, BLANK] as const)
      : [];

const CHECKS: readonly { readonly of: readonly string[]; readonly check: Check }[] = [
  ...(
    [
      ['domain_denylist_enabled', 'domain_denylist'],
      ['asset_proxy_enabled', 'asset_proxy_url'],
      ['unique_ips_limit_enabled', 'unique_ips_limit_per_user', 'unique_ips_limit_time_window'],
      ['plantuml_enabled', 'plantuml_url'],
      ['kroki_enabled', 'kroki_url'],
      ['sourcegraph_enabled', 'sourcegraph_url'],
      ['gitpod_enabled', 'gitpod_url'],
      ['snowplow_enabled', 'snowplow_collector_hostname'],
      ['spam_check_endpoint_enabled', 'spam_check_endpoint_url'],
      ['external_authorization_service_enabled', 'external_authorization_service_default_label'],
      ['external_authorization_service_enabled', 'external_authorization_service_timeout'],
      ['eks_integration_enabled', 'eks_account_id', 'eks_access_key_id'],
      ['lets_encrypt_terms_of_service_accepted', 'lets_encrypt_notification_email'],
    ] as const
  ).map(([enabled, ...names]) => ({ of: [enabled, ...names], check: needs(enabled, ...names) })),
  {
    of: ['enforce_terms', 'terms'],
    check: ({ enforce_terms, terms }) =>
      enforce_terms === true && isBlank(terms) ? [['terms', 'You need to set terms to be enforced']] : [],
  },
  {
    of: ['elasticsearch_indexing', 'elasticsearch_url'],
    check: ({ elasticsearch_indexing, elasticsearch_url }) =>
      elasticsearch_indexing === true && isBlank(elasticsearch_url)
        ? [['elasticsearch_url', "can't be blank when indexing is enabled"]]
        : [],
  },
  {
    // The defaults must stay usable: a request without a visibility must not be refused.
    of: ['restricted_visibility_levels', ...LEVELS],
    check: ({ restricted_visibility_levels: restricted, ...settings }) =>
      LEVELS.filter((name) => (restricted as readonly string[]).includes(settings[name] as string)).map(
        (name) => [name, 'cannot be set to a restricted visibility level'],
      ),
  },
  {
    of: KEYS,
    check: (settings) => (KEYS.every((name) => settings[name] === -1) ? [['allowed_key_types', BLANK]] : []),
  },
  {
    of: [
      'housekeeping_incremental_repack_period',
      'housekeeping_full_repack_period',
      'housekeeping_gc_period',
    ],
    check: (settings) => {
      const [incremental, full, gc] = ['incremental_repack', 'full_repack', 'gc'].map(
        (name) => settings[`housekeeping_${name}_period`] as number,
      );
      return [
        ...(full! < incremental!
          ? [['housekeeping_full_repack_period', atLeast(incremental!)] as const]
          : []),
        ...(gc! < full! ? [['housekeeping_gc_period', atLeast(full!)] as const] : []),
      ];
    },
  },
  {
    of: ['gitaly_timeout_default', 'gitaly_timeout_medium', 'gitaly_timeout_fast'],
    check: (settings) => {
      const [max, medium, fast] = ['default', 'medium', 'fast'].map(
        (name) => settings[`gitaly_timeout_${name}`] as number,
      );
      const over = (name: string, value: number, limit: number) =>
        limit > 0 && value > limit
          ? [[`gitaly_timeout_${name}`, `must be less than or equal to ${limit}`] as const]
          : [];
      return [
        ...over('medium', medium!, max!),
        ...over('fast', fast!, max!),
        ...(medium! < fast! ? [['gitaly_timeout_medium', atLeast(fast!)] as const] : []),
      ];
    },
  },
  {
    of: ['mirror_capacity_threshold', 'mirror_max_capacity'],
    check: ({ mirror_capacity_threshold: threshold, mirror_max_capacity: max }) =>
      (threshold as number) > (max as number)
        ? [
            [
              'mirror_capacity_threshold',
              "Project's mirror capacity threshold can't be higher than it's maximum capacity",
            ],
          ]
        : [],
  },
  {
    of: ['archive_builds_in_human_readable'],
    check: ({ archive_builds_in_human_readable: duration }) => {
      const seconds = typeof duration === 'string' ? secondsOf(duration) : undefined;
      return seconds !== undefined && seconds < DAY_SECONDS
        ? [['archive_builds_in_seconds', atLeast(DAY_SECONDS)]]
        : [];
    },
  },
  {
    of: ['repository_storages'],
    check: ({ repository_storages: names }, { storages }) =>
      (names as readonly string[]).flatMap((name) =>
        Object.hasOwn(storages, name) ? [] : [['repository_storages', `can't include: ${name}`] as const],
      ),
  },
  {
    of: ['repository_storages_weighted'],
    check: ({ repository_storages_weighted: weights }, { storages }) =>
      Object.entries(weights as Readonly<Record<string, number>>).flatMap(([name, weight]) => {
        if (!Object.hasOwn(storages, name))
          return [['repository_storages_weighted', `can't include: ${name}`]];
        return weight < 0 || weight > 100
          ? [['repository_storages_weighted', `value for '${name}' must be between 0 and 100`]]
          : [];
      }),
  },
];

const atLeast = (min: number) => `must be greater than or equal to ${min}`;

/**
 * @param settings all settings, as they would be after the change
 * @param changed names of the given settings; rules that involve none of them are not checked again
 * @param invalid names of settings that are invalid by themselves; rules that involve them are skipped
 */
export function problemsTogether(
  settings: Readonly<Record<string, SettingValue>>,
  changed: ReadonlySet<string>,
  invalid: ReadonlySet<string>,
  environment: StoreEnvironment,
): readonly (readonly [string, string])[] {
  const applies = ({ of }: (typeof CHECKS)[number]) =>
    of.some((name) => changed.has(name)) && !of.some((name) => invalid.has(name));
  return CHECKS.filter(applies).flatMap(({ check }) => check(settings, environment));
}
