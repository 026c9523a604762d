/** A quick look for a line that begins with `/`. */
export const mayHaveActions = (text: string): boolean => text.startsWith('/') || text.includes('\n/');
