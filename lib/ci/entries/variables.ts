import { isHash } from '../yaml/values.ts';
import { type Entry, isText } from './problems.ts';

export type VariableTexts = Readonly<Record<string, string>>;

const asText = (value: unknown): string | undefined =>
  isText(value) ? value : typeof value === 'number' && Number.isFinite(value) ? String(value) : undefined;

/** @param described whether a value may be a hash of `value` and `description`, as those of the whole pipeline */
const variablesEntry =
  (described: boolean): Entry<VariableTexts> =>
  (value, path, problems) => {
    const message = `config should be a hash of key value pairs${described ? ', value can be a hash' : ''}`;
    if (!isHash(value)) return problems.add(path, message);
    const found: [string, string][] = [];
    for (const [key, given] of Object.entries(value)) {
      const inner = described && isHash(given) ? given : undefined;
      if (inner !== undefined && !problems.keys(path, inner, ['value', 'description', 'options', 'expand']))
        return undefined;
      const text = asText(inner === undefined ? given : (inner['value'] ?? ''));
      if (text === undefined) return problems.add(path, message);
      found.push([key, text]);
    }
    return Object.fromEntries(found);
  };

export const variables = variablesEntry(false);
export const globalVariables = variablesEntry(true);

/** Names of variables and whether all, some or none of the pipeline's own are for a job. */
export type Inherited = boolean | readonly string[];
