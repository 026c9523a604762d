import { isHash } from '../yaml/values.ts';
import { type Entry, fields, isText, isTexts, oneOrMany, type Problems } from './problems.ts';

/** What a runner gets of an image, in its own names. */
export interface Image {
  readonly name: string;
  readonly entrypoint?: readonly string[];
  readonly ports?: readonly unknown[];
  readonly pull_policy?: readonly string[];
}

export interface Service extends Image {
  readonly alias?: string;
  readonly command?: readonly string[];
  readonly variables?: Readonly<Record<string, string>>;
}

const name: Entry<string> = (value, path, problems) =>
  isText(value) && value !== '' ? value : problems.add(path.replace(/:name$/, ''), 'name should be a string');

const words: Entry<readonly string[]> = (value, path, problems) =>
  isTexts(value) ? value : problems.add(path, 'config should be an array of strings');

const ports: Entry<readonly unknown[]> = (value, path, problems) =>
  Array.isArray(value) ? value : problems.add(path, 'config should be an array');

const policies: Entry<readonly string[]> = (value, path, problems) => {
  const list = isText(value) ? [value] : value;
  const known = ['always', 'never', 'if-not-present'];
  return isTexts(list) && list.every((item) => known.includes(item))
    ? list
    : problems.add(path, `config should be one of: ${known.join(', ')}`);
};

const imageFields = { name, entrypoint: words, ports, pull_policy: policies };
const imageHash = fields(imageFields);
const serviceHash = fields({
  ...imageFields,
  alias: (value: unknown, path: string, problems: Problems) =>
    isText(value) ? value : problems.add(path, 'config should be a string'),
  command: words,
  variables: (value: unknown, path: string, problems: Problems) =>
    isHash(value) && Object.values(value).every((item) => isText(item) || typeof item === 'number')
      ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, String(item)]))
      : problems.add(path, 'config should be a hash of key value pairs'),
});

const named =
  <T extends { readonly name?: string }>(entry: Entry<T>): Entry<T & { readonly name: string }> =>
  (value, path, problems) => {
    if (isText(value) && value !== '') return { name: value } as T & { readonly name: string };
    if (!isHash(value)) return problems.add(path, 'config should be a hash or a string');
    const found = entry(value, path, problems);
    if (found === undefined) return undefined;
    if (found.name === undefined) return problems.add(path, 'name should be a string');
    return found as T & { readonly name: string };
  };

export const image: Entry<Image> = named(imageHash);

const serviceList = oneOrMany<Service>(named(serviceHash));

export const services: Entry<readonly Service[]> = (value, path, problems) =>
  Array.isArray(value) ? serviceList(value, path, problems) : problems.add(path, 'config should be a array');
