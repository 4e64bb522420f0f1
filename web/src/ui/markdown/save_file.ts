// Text saved as a file, by the browser's own means.

export function saveFile(name: string, text: string, type = "text/plain"): void {
  const address = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // The browser takes the file up after the press, in a time of its own.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
