// Makes a text area as high as its text. Limits are in the style sheet.

/** For `{@attach}` on a text area; runs again when `text` changes. */
export function autosize(text: string): (area: HTMLTextAreaElement) => void {
  void text;
  return (area) => {
    area.style.height = "auto";
    area.style.height = `${area.scrollHeight + area.offsetHeight - area.clientHeight}px`;
  };
}
