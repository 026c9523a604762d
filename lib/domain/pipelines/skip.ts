/** Whether a commit's message says that it is not to be built. */
export const asksToSkip = (message: string): boolean => /\[(?:ci[ _-]skip|skip[ _-]ci)\]/i.test(message);
