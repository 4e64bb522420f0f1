// One frame of a camera or a screen as a file.

/** Milliseconds to wait for a first frame. */
const FIRST_FRAME_MS = 10_000;

/** Rejects if there is no frame, or the browser cannot encode it. */
export async function pictureOf(stream: MediaStream, type: "image/jpeg" | "image/png"): Promise<Blob> {
  const video = document.createElement("video");
  video.muted = true;
  video.playsInline = true;
  video.srcObject = stream;
  try {
    await video.play();
    await firstFrame(video);
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [video.videoWidth, video.videoHeight];
    const pen = canvas.getContext("2d");
    if (!pen || canvas.width === 0) throw new Error("no frame");
    pen.drawImage(video, 0, 0);
    const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, type, 0.92));
    if (!blob) throw new Error("no picture");
    return blob;
  } finally {
    video.srcObject = null;
  }
}

function firstFrame(video: HTMLVideoElement): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("no frame")), FIRST_FRAME_MS);
    const done = () => {
      clearTimeout(timer);
      resolve(null);
    };
    // Firefox and Chromium both know it; older browsers draw the current frame.
    if ("requestVideoFrameCallback" in video) video.requestVideoFrameCallback(done);
    else done();
  });
}
