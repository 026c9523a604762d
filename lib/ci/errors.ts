/** What is wrong with a configuration, in the words that people know from the product; one message or more. */
export class ConfigError extends Error {
  readonly messages: readonly string[];

  constructor(...messages: readonly string[]) {
    super(messages[0] ?? 'invalid configuration');
    this.name = 'ConfigError';
    this.messages = messages;
  }
}
