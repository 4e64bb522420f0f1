// Drag and drop of conversations within the page.

/** MIME type of a dragged conversation; its data is the id. */
export const CHAT_MIME = "application/x-duologue-chat";

/** For `{@attach}` on a drop target, which gets `data-over` while a conversation is above it. */
export function chatDropTarget(drop: (id: string) => void): (place: HTMLElement) => () => void {
  return (place) => {
    let depth = 0;
    const isChat = (event: DragEvent) => event.dataTransfer?.types.includes(CHAT_MIME) ?? false;
    const changeDepth = (by: number) => {
      depth = Math.max(0, depth + by);
      place.toggleAttribute("data-over", depth > 0);
    };
    const onEnter = (event: DragEvent) => isChat(event) && changeDepth(1);
    const onLeave = (event: DragEvent) => isChat(event) && changeDepth(-1);
    const onOver = (event: DragEvent) => isChat(event) && event.preventDefault();
    const onDrop = (event: DragEvent) => {
      if (!isChat(event)) return;
      event.preventDefault();
      changeDepth(-depth);
      drop(event.dataTransfer!.getData(CHAT_MIME));
    };
    const listeners = { dragenter: onEnter, dragleave: onLeave, dragover: onOver, drop: onDrop };
    for (const [type, listener] of Object.entries(listeners)) place.addEventListener(type, listener as EventListener);
    return () => {
      for (const [type, listener] of Object.entries(listeners)) place.removeEventListener(type, listener as EventListener);
    };
  };
}
