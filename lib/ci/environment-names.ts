/** What is wrong with the characters of an environment's name; undefined: nothing. An empty name has none. */
export const environmentNameProblem = (name: string): string | undefined =>
  /^[\w/${}. -]*$/.test(name) && !/^\/|\/$/.test(name)
    ? undefined
    : "can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', and spaces, but it cannot start or end with '/'";
