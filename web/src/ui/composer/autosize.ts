// A text area that is as high as its text. Owns nothing but the height; the limits are the style sheet's.

/** For `{@attach}` on a text area; `text` is what it must look at again when changed. */
export function autosize(text: string): (area: HTMLTextAreaElement) => void {
  void text;
  return (area) => {
    area.style.height = "auto";
    area.style.height = `${area.scrollHeight + area.offsetHeight - area.clientHeight}px`;
  };
}
