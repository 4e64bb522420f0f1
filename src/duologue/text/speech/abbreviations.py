"""English and German abbreviations whose full stop does not end a sentence, in lower case and without the last stop.

Data for `clause_splitter`.
"""

from __future__ import annotations

_NEVER = """
mr mrs ms dr prof rev hon gen col capt lt sgt sen rep gov pres st mt ft vs cf eg ie e.g i.e approx viz fig figs eq vol vols
pp ca al dept est tel ext resp incl
hr fr frl dipl ing nr abb bd bzw ggf evtl inkl exkl zzgl sog vgl geb gest z.b d.h u.a i.d.r z.t o.ä s.o s.u bspw einschl
mind str tsd
"""
_PERHAPS = """
etc inc ltd corp co jr sr a.m p.m am pm u.s u.k u.n ph.d b.c a.d min max avg misc jan feb mar apr jun jul aug sep sept oct
nov dec usw usf mio mrd std gmbh bsp ff zb dh
"""

NEVER_ENDING = frozenset(_NEVER.split())
"""Never at the end of a sentence."""
PERHAPS_ENDING = frozenset(_PERHAPS.split())
"""May end a sentence: they do if the next word is capitalised."""
