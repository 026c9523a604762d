/** The parameters that change settings, generated from the attributes. */
import { aliases, attributes, demands } from '../../domain/settings/attributes.ts';
import type { DescribedAttribute } from '../../domain/settings/kinds.ts';
import { type Coerced, INVALID, toInteger, toText } from '../../http/coerce.ts';
import { type Field, field, type Options } from '../../http/field.ts';
import * as p from '../../http/params.ts';
import type { SettingValue } from '../../store/settings/settings.ts';

/** Given as the path of a group, stored as its id. */
const GROUP_ID = 'performance_bar_allowed_group_id';

export type Given = Readonly<Record<string, SettingValue | undefined>> & {
  readonly performance_bar_allowed_group_path?: string | null;
  readonly performance_bar_enabled?: boolean | null;
};

/** Every setting under each of its names: all optional, at least one required. */
export function settingParameters(): Field<Given> {
  const shape: Record<string, Field<unknown>> = {};
  for (const [name, attribute] of Object.entries(attributes)) {
    if (name !== GROUP_ID) shape[name] = fieldOf(attribute);
  }
  for (const [name, { of }] of Object.entries(aliases)) {
    shape[name] = fieldOf(attributes[of]!, `Alias of \`${of}\`; \`${of}\` takes precedence`);
  }
  const path = (description?: string) => p.string({ nullable: true, ...(description && { description }) });
  shape[GROUP_ID] = path(
    'Alias of `performance_bar_allowed_group_path`; `performance_bar_allowed_group_path` takes precedence',
  );
  shape['performance_bar_allowed_group_path'] = path(
    'Path of the group whose members may use the performance bar; empty disables it',
  );
  shape['performance_bar_enabled'] = p.boolean({
    description: 'Deprecated: `false` has the effect of an empty `performance_bar_allowed_group_path`',
  });
  return p.params(shape, [
    p.atLeastOneOf(...Object.keys(shape).sort()),
    p.mutuallyExclusive(
      'password_authentication_enabled_for_web',
      'password_authentication_enabled',
      'signin_enabled',
    ),
    ...Object.entries(demands).flatMap(([enabled, names]) =>
      namesOf(enabled).flatMap((on) => names.map((name) => requiredWith(on, name))),
    ),
  ]) as unknown as Field<Given>;
}

/** Requires the parameter `name`, or an alias of it, in a request that turns `enabled` on. */
function requiredWith(enabled: string, name: string): p.Rule {
  const names = namesOf(name);
  // The error names the alias that matches the one in the request: `spamcheck_enabled` needs `spamcheck_api_key`.
  const reported = names.find((alias) => alias.split('_')[0] === enabled.split('_')[0]) ?? name;
  const canonical = aliases[enabled]?.of;
  return (given, value) =>
    value[enabled] === true && !(canonical !== undefined && given(canonical)) && !names.some(given)
      ? { name: reported, text: 'is missing' }
      : undefined;
}

const namesOf = (name: string): readonly string[] => [
  name,
  ...Object.keys(aliases).filter((alias) => aliases[alias]!.of === name),
];

function fieldOf(attribute: DescribedAttribute, description = descriptionOf(attribute)): Field<unknown> {
  const { type, values } = attribute;
  const options = { nullable: true, description } as const;
  switch (type) {
    case 'boolean':
      return p.boolean(options);
    case 'integer':
      return p.integer({ ...options, ...(values && { values: values as readonly number[] }) });
    case 'number':
    case 'decimal':
      return p.number(options);
    case 'list':
      return textList(options);
    case 'weights':
      return weights(options);
    default:
      return values === undefined ? p.string(options) : p.oneOf(values as readonly string[], options);
  }
}

/** Settings with a default of their own, and secrets, are only stored; see `Attribute.default`. */
const descriptionOf = ({ description, default: stored, type }: DescribedAttribute): string =>
  stored !== undefined || type === 'secret' ? `${description} (stored; has no effect yet)` : description;

type Nullable = Pick<Options<unknown>, 'nullable' | 'description'>;

const SEPARATORS = /[\s,;]+/;

/** A list, or one string with commas, semicolons, spaces or line breaks between the entries. */
const textList = (options: Nullable): Field<unknown> =>
  field(
    options,
    (raw): Coerced<readonly string[]> => {
      if (raw === null) return null;
      const parts = Array.isArray(raw) ? raw : [raw];
      const texts = parts.map((part) => (part === null ? '' : toText(part)));
      if (texts.some((part) => typeof part !== 'string')) return INVALID;
      const entries = (texts as string[])
        .flatMap((part) => part.split(SEPARATORS))
        .filter((part) => part !== '');
      return [...new Set(entries)];
    },
    { type: ['array', 'string'], items: { type: 'string' } },
  );

/** Integers by name. */
const weights = (options: Nullable): Field<unknown> =>
  field(
    options,
    (raw): Coerced<Readonly<Record<string, number>>> => {
      const hash = p.toHash(raw);
      if (hash === null || hash === INVALID) return hash;
      const read = Object.entries(hash).map(([name, weight]) => [name, toInteger(weight)] as const);
      if (read.some(([, weight]) => typeof weight !== 'number')) return INVALID;
      return Object.fromEntries(read) as Readonly<Record<string, number>>;
    },
    { type: 'object', additionalProperties: { type: 'integer' } },
  );
