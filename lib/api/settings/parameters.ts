/** The parameters that change settings, made of what the settings are. */
import { aliases, attributes, demands } from '../../domain/settings/attributes.ts';
import type { Attribute } from '../../domain/settings/kinds.ts';
import { type Coerced, INVALID, toInteger, toText } from '../../http/coerce.ts';
import { type Field, field, type Options } from '../../http/field.ts';
import * as p from '../../http/params.ts';
import type { SettingValue } from '../../store/settings/settings.ts';

/** Given as the group's path, kept as its id. */
const GROUP_ID = 'performance_bar_allowed_group_id';

export type Given = Readonly<Record<string, SettingValue | undefined>> & {
  readonly performance_bar_allowed_group_path?: string | null;
  readonly performance_bar_enabled?: boolean | null;
};

/** Every setting by each of its names, none required, one at least. */
export function settingParameters(): Field<Given> {
  const shape: Record<string, Field<unknown>> = {};
  for (const [name, attribute] of Object.entries(attributes)) {
    if (name !== GROUP_ID) shape[name] = fieldOf(attribute);
  }
  for (const [name, { of }] of Object.entries(aliases)) {
    shape[name] = fieldOf(attributes[of]!, `As \`${of}\``);
  }
  const path = (description?: string) => p.string({ nullable: true, ...(description && { description }) });
  shape[GROUP_ID] = path('As `performance_bar_allowed_group_path`');
  shape['performance_bar_allowed_group_path'] = path();
  shape['performance_bar_enabled'] = p.boolean({ description: 'false: as an empty path' });
  return p.params(shape, [
    p.atLeastOneOf(...Object.keys(shape).sort()),
    p.mutuallyExclusive(
      'password_authentication_enabled_for_web',
      'password_authentication_enabled',
      'signin_enabled',
    ),
    ...Object.entries(demands).flatMap(([enabled, names]) =>
      namesOf(enabled).flatMap((on) => names.map((name) => needed(on, name))),
    ),
  ]) as unknown as Field<Given>;
}

/** Something is to be switched on and needs this beside it, by whatever name. */
function needed(enabled: string, name: string): p.Rule {
  const known = namesOf(name);
  // Whoever uses another name for the one is told of the same for the other.
  const neutral = known.find((other) => other.split('_')[0] === enabled.split('_')[0]) ?? name;
  const own = aliases[enabled]?.of;
  return (given, value) =>
    value[enabled] === true && !(own !== undefined && given(own)) && !known.some(given)
      ? { name: neutral, text: 'is missing' }
      : undefined;
}

const namesOf = (name: string): readonly string[] => [
  name,
  ...Object.keys(aliases).filter((alias) => aliases[alias]!.of === name),
];

function fieldOf({ type, values }: Attribute, description?: string): Field<unknown> {
  const options = { nullable: true, ...(description && { description }) } as const;
  switch (type) {
    case 'boolean':
      return p.boolean(options);
    case 'integer':
      return p.integer({ ...options, ...(values && { values: values as readonly number[] }) });
    case 'number':
      return p.number(options);
    case 'list':
      return textList(options);
    case 'weights':
      return weights(options);
    default:
      return values === undefined ? p.string(options) : p.oneOf(values as readonly string[], options);
  }
}

type Nullable = Pick<Options<unknown>, 'nullable' | 'description'>;

const SEPARATORS = /[\s,;]+/;

/** A list, or one text with commas, semicolons, spaces or line breaks between its entries. */
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

/** Whole numbers by name. */
const weights = (options: Nullable): Field<unknown> =>
  field(
    options,
    (raw): Coerced<Readonly<Record<string, number>>> => {
      const given = p.toHash(raw);
      if (given === null || given === INVALID) return given;
      const read = Object.entries(given).map(([name, weight]) => [name, toInteger(weight)] as const);
      if (read.some(([, weight]) => typeof weight !== 'number')) return INVALID;
      return Object.fromEntries(read) as Readonly<Record<string, number>>;
    },
    { type: 'object', additionalProperties: { type: 'integer' } },
  );
