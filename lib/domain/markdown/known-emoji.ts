/** Whether there is an emoji of this name, without colons. The list, of 50 KB, is loaded when it is asked for. */
export async function isEmoji(name: string): Promise<boolean> {
  const { default: names } = await import('markdown-it-emoji/lib/data/full.mjs');
  return Object.hasOwn(names, name);
}
