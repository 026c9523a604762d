/** What large bodies and answers need, loaded on demand with the first: apart, functions would be cut into more files. */
export { joined } from './joined.ts';
export { largeJson } from './json-in-turns.ts';
export { parseLargeForm } from './large-form.ts';
export { parseLarge } from './large-json.ts';
