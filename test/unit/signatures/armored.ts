/** A block as programs write it, without a checksum. */
export const armored = (label: string, data: Uint8Array): string =>
  `-----BEGIN ${label}-----\n\n${Buffer.from(data).toString('base64')}\n-----END ${label}-----\n`;

/** What is in a block. */
export const binary = (text: string): Buffer =>
  Buffer.from(text.replace(/^-.*$/gm, '').replace(/^=.*$/gm, '').trim(), 'base64');
